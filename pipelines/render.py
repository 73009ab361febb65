"""Results as text: aligned columns for people, CSV, JSON, Markdown and LaTeX for what comes next.

A result is its column names and its rows of plain Python values. Parquet is no text; `pipelines.commands.output` writes
it.
"""

from __future__ import annotations

import csv
import math
import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import groupby
from textwrap import wrap
from typing import Any, TextIO
from uuid import UUID

from pipelines.archive.json_reader import dumps

#: Stands where there is no value, in what people read.
MISSING = "-"
#: Longer cells of a text table are cut; every other format has them whole.
MAX_CELL_WIDTH = 60
#: Headers wider than this, and than their column, are broken at underscores.
HEADER_WIDTH = 9
_GAP = "  "
_INTERVAL = re.compile(r"\[-?[0-9.]+, -?[0-9.]+\]")
#: How much of a terminal's width the repeated columns may take.
_LEADING_SHARE = 0.8

Row = Sequence[Any]
Place = tuple[int, int]


@dataclass(frozen=True)
class Style:
    """How people are shown a result.

    `digits` rounds to so many significant digits, `decimals` to so many behind the point (None: as they are);
    `sections` leading columns become headings above blocks of rows; `narrow` breaks long headers; `whole` leaves long
    cells uncut; `marks` follow what stands in a cell (row, column) that must not be taken at face value; `bold` cells
    are set in bold where that can be. Texts of the `noted` columns become numbers, and stand below the table, each
    once; Markdown leaves them where they are. A text table that is wider than a terminal of `width` goes on below
    itself, with the columns named in `leading` again, or as many of the last of them as leave room for others, or the
    first column where it has none of them; with `wrap`, which goes with no sections, its last column is wrapped
    instead. LaTeX gets a `caption`, where there is one; LaTeX and Markdown have the `legend`, the `provenance` and the
    `warning` below; beside a text table legend and warning are told. Where there is `nothing` to show, that line stands
    in place of the table and its legend.
    """

    digits: int | None = None
    decimals: int | None = None
    sections: int = 0
    narrow: bool = False
    whole: bool = False
    marks: Mapping[Place, str] = field(default_factory=dict)
    bold: Collection[Place] = ()
    noted: Collection[int] = ()
    width: int | None = None
    leading: Sequence[str] = ()
    wrap: bool = False
    caption: str = ""
    bold_means: str = ""
    legend: Sequence[str] = ()
    provenance: str = ""
    warning: str = ""
    nothing: str = ""

    def whole_legend(self, *, shows_bold: bool) -> list[str]:
        """The legend, with what bold means where it is seen."""
        bold = [f"bold: {self.bold_means}"] if shows_bold and self.bold and self.bold_means else []
        return [*bold, *self.legend]

    @property
    def origin(self) -> list[str]:
        """What a document says of where its numbers are from."""
        return [line for line in (self.provenance, self.warning) if line]


def unique_names(columns: Iterable[str]) -> list[str]:
    """The names, with _1, _2, … behind one that came before, so that none hides another where names are keys."""
    names: dict[str, None] = {}
    for column in columns:
        name, number = column, 0
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names[name] = None
    return list(names)


def write_csv(stream: TextIO, columns: Row, rows: Iterable[Row]) -> None:
    """CSV with a header; NULL is an empty field, lists and objects are JSON text."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_csv_value(value) for value in row])


def _csv_value(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return dumps(value) if isinstance(value, (list, dict)) else value


def write_json(stream: TextIO, columns: Row, rows: Iterable[Row]) -> None:
    """A list of objects, a line each. What JSON has no number for is the text "NaN", "Infinity" or "-Infinity"."""
    names = unique_names(columns)
    stream.write("[")
    for number, row in enumerate(rows):
        stream.write(",\n " if number else "\n ")
        stream.write(dumps({name: plain(value) for name, value in zip(names, row, strict=True)}))
    stream.write("\n]\n")


def plain(value: Any) -> Any:
    """A value as strict JSON can hold it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        return plain(float(value))
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, (timedelta, UUID)):
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be written")


def write_text(stream: TextIO, columns: Row, rows: Iterable[Row], style: Style | None = None) -> list[str]:
    """Aligned columns, numbers to the right; blocks of rows under headings where the style has sections.

    A block leaves out the columns that are empty in it. Returns what the reader has to be told of it: that texts are
    cut, that columns go on below, and which no block has.
    """
    style = style or Style()
    if style.nothing:
        stream.writelines(f"{line}\n" for line in folded(_escaped(style.nothing), style.width))
        return []
    rows, notes = _noted(rows, style)
    cells, numeric, filled = _cells(columns, rows, style, _escaped)
    head = style.sections
    remarks = []
    if not style.whole:
        whole, cells = cells, [[*row[:head], *map(_cut, row[head:])] for row in cells]
        if whole != cells:
            remarks.append(f"texts that end in … are cut at {MAX_CELL_WIDTH} characters: other formats have them whole")
    layout = [
        _TextColumn(i, _escaped(str(column)), [row[i] for row in cells], numeric[i], style.narrow)
        for i, column in enumerate(columns)
    ][head:]
    remarks += _left_out(column.name for column in layout if head and cells and not filled[column.place])
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
        stream.writelines(f"{line}\n" for line in folded(_escaped(note), style.width))
    if is_split:
        remarks.append("the table is wider than the terminal: its other columns stand below")
    return remarks


def _left_out(names: Iterable[str]) -> list[str]:
    empty = ", ".join(names)
    return [f"left out, as empty in every row: {empty}"] if empty else []


def shows_bold(stream: TextIO) -> bool:
    """Whether it is a terminal whose user has not asked for plain text (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def folded(text: str, width: int | None) -> list[str]:
    """The text in lines that fit the width, all but the first indented."""
    return [text] if width is None else wrap(text, width, subsequent_indent="  ")


def _noted(rows: Iterable[Row], style: Style) -> tuple[Iterable[Row], list[str]]:
    """The rows with numbers in the place of the texts that become notes, and the notes."""
    if not style.noted:
        return rows, []
    numbers: dict[str, str] = {}
    out = []
    for row in rows:
        cells = list(row)
        for place in style.noted:
            if cells[place] is not None:
                cells[place] = numbers.setdefault(str(cells[place]), f"[{len(numbers) + 1}]")
        out.append(cells)
    return out, [f"{number} {text}" for text, number in numbers.items()]


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


def write_markdown(stream: TextIO, columns: Row, rows: Iterable[Row], style: Style | None = None) -> None:
    """A table in GitHub's Markdown, its legend a list below. No name or text of the archive is taken for markup."""
    style = style or Style()
    if style.nothing:
        stream.write(f"{_markdown_escaped(style.nothing)}\n")
        stream.write(_markdown_list(style.origin))
        return
    cells, numeric, _ = _cells(columns, rows, style, _markdown_escaped, "**{}**".format)
    stream.write(f"| {' | '.join(_markdown_escaped(str(column)) for column in columns)} |\n")
    stream.write(f"| {' | '.join('---:' if right else '---' for right in numeric)} |\n")
    for row in cells:
        stream.write(f"| {' | '.join(row)} |\n")
    stream.write(_markdown_list([*style.whole_legend(shows_bold=True), *style.origin]))


def _markdown_list(lines: Iterable[str]) -> str:
    """The lines as a list with an empty line before it, without which it would be rows of the table."""
    items = []
    for line in lines:
        guard = "\\" if line.startswith(("#", "-", "+")) else ""  # else a heading, or a list of its own
        items.append(f"- {guard}{_markdown_escaped(line)}\n")
    return "".join(["\n", *items]) if items else ""


def write_latex(stream: TextIO, columns: Row, rows: Iterable[Row], style: Style | None = None) -> None:
    r"""A tabular environment with the rules of the package booktabs, in a table with caption and legend where there is
    a caption. No name or text of the archive is taken for a command.

    Columns that are empty throughout are left out, which the legend says.
    """
    style = style or Style()
    if style.nothing:
        stream.writelines(f"{_latex_escaped(line)}\\par\n" for line in [style.nothing, *style.origin])
        return
    rows, notes = _noted(rows, style)
    cells, numeric, filled = _cells(columns, rows, style, _latex_escaped, r"\textbf{{{}}}".format, _latex_number)
    kept = [i for i in range(len(columns)) if filled[i] or not cells]
    legend = [
        *style.whole_legend(shows_bold=True),
        *notes,
        *_left_out(str(column) for i, column in enumerate(columns) if i not in kept),
        *style.origin,
    ]
    stream.write("% \\usepackage{booktabs}\n")
    if style.caption:
        stream.write(f"\\begin{{table}}\n\\centering\n\\caption{{{_latex_escaped(style.caption)}}}\n")
    stream.write(f"\\begin{{tabular}}{{{''.join('r' if numeric[i] else 'l' for i in kept)}}}\n\\toprule\n")
    stream.write(f"{' & '.join(_latex_escaped(str(columns[i])) for i in kept)} \\\\\n\\midrule\n")
    for row in cells:
        line = [row[i] for i in kept]
        # A star or a bracket after the end of a line would be taken for its argument.
        guard = "{}" if line and line[0].startswith(("*", "[")) else ""
        stream.write(f"{guard}{' & '.join(line)} \\\\\n")
    stream.write("\\bottomrule\n\\end{tabular}\n")
    if style.caption:
        stream.writelines(f"\\par\\smallskip{{\\footnotesize {_latex_escaped(line)}\\par}}\n" for line in legend)
        stream.write("\\end{table}\n")
    else:
        stream.writelines(f"% {_latex_escaped(line)}\n" for line in legend)


def _cells(
    columns: Row,
    rows: Iterable[Row],
    style: Style,
    escape: Callable[[str], str],
    emphasize: Callable[[str], str] = str,
    number_of: Callable[[str], str] = str,
) -> tuple[list[list[str]], list[bool], list[bool]]:
    """Every cell as text, which columns are numbers throughout, and which are not empty throughout."""
    numeric = [True] * len(columns)
    filled = [False] * len(columns)
    mark_width: dict[int, int] = {}
    for (_, column), mark in style.marks.items():
        mark_width[column] = max(mark_width.get(column, 0), len(mark))
    cells = []
    for number, row in enumerate(rows):
        line = []
        for i, value in enumerate(row):
            if value is not None:
                filled[i] = True
                numeric[i] = numeric[i] and isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
            text = escape(_text(value, style))
            if isinstance(value, (int, float, Decimal)) or _INTERVAL.fullmatch(text):
                text = number_of(text)
            if (number, i) in style.bold:
                text = emphasize(text)
            if i in mark_width:  # the same width behind every number keeps the column aligned
                mark = style.marks.get((number, i), "")
                text += escape(mark) + " " * (mark_width[i] - len(mark))
            line.append(text)
        cells.append(line)
    return cells, [is_number and is_filled for is_number, is_filled in zip(numeric, filled, strict=True)], filled


def _text(value: Any, style: Style) -> str:
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and style.decimals is not None:
        return fixed(value, style.decimals)
    if isinstance(value, float) and style.digits is not None:
        return significant(value, style.digits)
    if isinstance(value, (list, tuple, dict)):
        return dumps(plain(value))
    if isinstance(value, int) and abs(value) >= 10**MAX_CELL_WIDTH:
        # Cut like a text, it would be read as another number; as a float it may be too large.
        places = style.decimals if style.decimals is not None else style.digits and style.digits - 1
        if places is not None:
            return f"{Decimal(value):.{places}e}"
    return str(value)


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals; what rounds to 0 has no sign."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e15:
        return f"{value:.{decimals}e}"
    return f"{value:z.{decimals}f}"


def significant(value: float, digits: int) -> str:
    """A number to so many significant digits, without an exponent where a person would write none."""
    size = abs(value)
    if not math.isfinite(value) or value == 0:
        return str(value)
    if size >= 10**digits:
        return f"{value:.0f}" if size < 1e15 else f"{value:.{digits - 1}e}"
    if size < 1e-4:
        return f"{value:.{digits - 1}e}"
    return f"{value:#.{digits}g}".removesuffix(".")


def _escaped(text: str) -> str:
    """Text that stays on its line and cannot control the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _markdown_escaped(text: str) -> str:
    for character in "\\`*_~|<>[]&$":
        text = text.replace(character, "\\" + character)
    return "<br>".join(_escaped(line) for line in text.splitlines())


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the oldest font encoding, which is still the default, these three are other characters.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def _latex_escaped(text: str) -> str:
    return _escaped("".join(_LATEX.get(c, c) for c in " ".join(text.split())))


def _latex_number(text: str) -> str:
    """A number, or an interval of two, with minus signs where a text would have hyphens."""
    return re.sub(r"(?<![^ \[])-", "$-$", text)


def _width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


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
