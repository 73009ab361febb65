"""Cells as people read them: numbers rounded, marks behind them, texts on one line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pipelines.archive.json_reader import dumps
from pipelines.render.data import Row, plain

#: Stands where there is no value, in what people read.
MISSING = "-"
#: Longer cells of a text table are cut; every other format has them whole.
MAX_CELL_WIDTH = 60
_INTERVAL = re.compile(r"\[-?[0-9.]+, -?[0-9.]+\]")

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


def cells_of(
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


def escaped(text: str) -> str:
    """Text that stays on its line and cannot control the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def noted(rows: Iterable[Row], style: Style) -> tuple[Iterable[Row], list[str]]:
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


def left_out(names: Iterable[str]) -> list[str]:
    empty = ", ".join(names)
    return [f"left out, as empty in every row: {empty}"] if empty else []
