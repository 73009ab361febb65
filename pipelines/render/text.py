"""Text tables: aligned columns, as wide as the terminal."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import wrap
from typing import TextIO

from pipelines.render.cells import MAX_CELL_WIDTH, MISSING, Style, cells_of, escaped, left_out, noted
from pipelines.render.data import Row

#: Headers wider than this, and than their column, are broken at underscores.
HEADER_WIDTH = 9
_GAP = "  "
#: How much of a terminal's width the repeated columns may take.
_LEADING_SHARE = 0.8


def write_text(stream: TextIO, columns: Row, rows: Iterable[Row], style: Style | None = None) -> list[str]:
    """Aligned columns, numbers to the right; blocks of rows under headings where the style has sections.

    A block leaves out the columns that are empty in it. Returns what the reader has to be told of it: that texts are
    cut, that columns go on below, and which no block has.
    """
    style = style or Style()
    if style.nothing:
        stream.writelines(f"{line}\n" for line in folded(escaped(style.nothing), style.width))
        return []
    rows, notes = noted(rows, style)
    cells, numeric, filled = cells_of(columns, rows, style, escaped)
    head = style.sections
    remarks = []
    if not style.whole:
        whole, cells = cells, [[*row[:head], *map(_cut, row[head:])] for row in cells]
        if whole != cells:
            remarks.append(f"texts that end in … are cut at {MAX_CELL_WIDTH} characters: other formats have them whole")
    layout = [
        _TextColumn(i, escaped(str(column)), [row[i] for row in cells], numeric[i], style.narrow)
        for i, column in enumerate(columns)
    ][head:]
    remarks += left_out(column.name for column in layout if head and cells and not filled[column.place])
    if not cells:
        for number, part in enumerate(_parts(layout, replace(style, leading=()))):
            stream.write("\n" * (number > 0))
            stream.writelines(_titles(part))
        stream.write("(no rows)\n")
    if style.wrap and style.width is not None and layout:
        cells = _wrapped(cells, layout, style.width)
    bold = style.bold if shows_bold(stream) else ()
    is_split = False
    for number, (heading, lines) in enumerate(groupby(enumerate(cells), key=lambda line: line[1][:head])):
        block = list(lines)
        shown = [c for c in layout if not head or any(row[c.place].strip() != MISSING for _, row in block)]
        if number:
            stream.write("\n")
        if heading:
            stream.writelines(f"{line}\n" for line in _joined(heading, " / ", style.width))
        for part_number, part in enumerate(_parts(shown, style)):
            if part_number:
                stream.write("\n")
                is_split = True
            stream.writelines(_titles(part))
            for place, row in block:
                stream.write(_line(part, (row[c.place] for c in part), [(place, c.place) in bold for c in part]))
    if notes:
        stream.write("\n")
    for note in notes:
        stream.writelines(f"{line}\n" for line in folded(escaped(note), style.width))
    if is_split:
        remarks.append("the table is wider than the terminal: its other columns stand below")
    return remarks


def shows_bold(stream: TextIO) -> bool:
    """Whether it is a terminal whose user has not asked for plain text (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def folded(text: str, width: int | None) -> list[str]:
    """The text in lines that fit the width, all but the first indented."""
    return [text] if width is None else wrap(text, width, subsequent_indent="  ")


def _wrapped(cells: list[list[str]], layout: list[_TextColumn], width: int) -> list[list[str]]:
    """Rows whose last cell goes on in rows of its own, so that they fit; the last column becomes as narrow."""
    last = layout[-1]
    last.width = max(min(last.width, width - sum(c.width + len(_GAP) for c in layout[:-1])), HEADER_WIDTH)
    rows = []
    for row in cells:
        first, *more = wrap(row[-1], last.width) or [""]
        rows += [[*row[:-1], first], *([*[""] * (len(row) - 1), line] for line in more)]
    return rows


def _joined(texts: Sequence[str], between: str, width: int | None) -> Iterator[str]:
    """The texts on one line, or on as many as keep within the width."""
    line = ""
    for number, text in enumerate(texts):
        added = f"{line}{between if number else ''}{text}"
        if number and width is not None and _width(added.rstrip()) > width:
            yield f"{line}{between}".rstrip()
            added = text
        line = added
    yield line


def _parts(columns: list[_TextColumn], style: Style) -> Iterator[list[_TextColumn]]:
    """The columns in parts that fit the terminal, the leading ones in each."""
    if style.width is None or _total(columns) <= style.width:
        yield columns
        return
    named = [column for column in columns if column.name in style.leading] or columns[: bool(style.leading)]
    leading = _last_within(named, style.width * _LEADING_SHARE)
    part, n_repeated = list[_TextColumn](), 0
    for column in columns:
        if column in part:
            continue
        if len(part) > n_repeated and _total([*part, column]) > style.width:
            yield part
            room = style.width - column.width - len(_GAP)
            part = _last_within([other for other in leading if other is not column], room)
            n_repeated = len(part)
        part.append(column)
    yield part


def _last_within(columns: list[_TextColumn], width: float) -> list[_TextColumn]:
    """The last of the columns, as many as are no wider than `width` together."""
    while columns and _total(columns) > width:
        columns = columns[1:]
    return columns


def _total(columns: Sequence[_TextColumn]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


class _TextColumn:
    """Where a column's cells stand, how wide they are, and its header in as many lines as it needs."""

    def __init__(self, place: int, name: str, cells: Sequence[str], numeric: bool, narrow: bool) -> None:
        self.place = place
        self.name = name
        self.numeric = numeric
        width = max(map(_width, cells), default=0)
        self.header = list(_broken(_cut(name), max(width, HEADER_WIDTH))) if narrow else [name]
        self.width = max(width, *map(_width, self.header))


def _titles(columns: Sequence[_TextColumn]) -> Iterator[str]:
    height = max((len(column.header) for column in columns), default=0)
    for n in range(-height, 0):
        yield _line(columns, (column.header[n] if n >= -len(column.header) else "" for column in columns))
    yield _line(columns, ("-" * column.width for column in columns))


def _line(columns: Sequence[_TextColumn], texts: Iterable[str], bold: Iterable[bool] = ()) -> str:
    padded = [_padded(text, column) for text, column in zip(texts, columns, strict=True)]
    for i, is_bold in enumerate(bold):
        if is_bold:
            padded[i] = f"\x1b[1m{padded[i]}\x1b[0m"
    return _GAP.join(padded).rstrip() + "\n"


def _padded(text: str, column: _TextColumn) -> str:
    space = " " * (column.width - _width(text))
    return space + text if column.numeric else text + space


def _broken(header: str, width: int) -> Iterator[str]:
    """The header in as few lines as fit the width, broken behind underscores."""
    line = ""
    for part in header.replace("_", "_\0").split("\0"):
        if line and _width(line + part) > width:
            yield line
            line = ""
        line += part
    yield line


def _cut(text: str) -> str:
    if len(text) <= MAX_CELL_WIDTH and _width(text) <= MAX_CELL_WIDTH:
        return text
    kept, width = [], 0
    for character in text:
        width += _width(character)
        if width > MAX_CELL_WIDTH - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def _width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
