"""The tables of a benchmark: figures against their targets, as Markdown. Measures nothing."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One target of the design and what was measured. `limit` is None where there is no target; `formula` says what
    the number is made of."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    formula: str = ""

    @property
    def verdict(self) -> str:
        """met, or by how much it was missed."""
        if self.limit is None:
            return ""
        if self.value <= self.limit:
            return "met"
        return f"missed by {100 * (self.value / self.limit - 1):.0f} %"

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        limit = "" if self.limit is None else f"≤ {number(self.limit)} {self.unit}"
        return self.name, f"{number(self.value)} {self.unit}".strip(), limit.strip(), self.verdict, self.formula


@dataclass(frozen=True)
class Section:
    """What one part of the benchmark gives: rows of the table of targets, and tables of its own."""

    figures: Sequence[Figure]
    tables: Mapping[str, str]


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; `|` in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def targets(figures: Iterable[Figure]) -> str:
    """The table of targets."""
    return markdown(("figure", "measured", "target", "", "made of"), [figure.cells for figure in figures])


def median_steps(steps: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median seconds of each step over some builds, in the order of the first."""
    return {name: statistics.median(run[name] for run in steps if name in run) for name in steps[0]}


def fixed_and_variable(small: tuple[float, float], large: tuple[float, float]) -> tuple[float, float]:
    """The line through two measurements (amount, seconds): its seconds at 0, and its seconds for each unit.

    Raises:
        ValueError: both amounts are the same.
    """
    if small[0] == large[0]:
        raise ValueError("two measurements of one amount make no line")
    slope = (large[1] - small[1]) / (large[0] - small[0])
    return small[1] - slope * small[0], slope
