"""How people are shown the standard result tables: which columns, in what order, and what is set in bold.

What is measured is settled in sql/; here it is only laid out. Machines get the views as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pipelines.commands.output import Result

if TYPE_CHECKING:
    from pipelines.client.reader import SnapshotReader

DIGITS = 4
#: Values that differ by no more than this are equally good.
_TIE = 1e-9


class Shown(NamedTuple):
    """One column: its header, the SQL that gives it, which end of it is the best, and whether it is left out where it
    is empty throughout."""

    header: str
    sql: str
    best: Literal["highest", "lowest"] | None = None
    optional: bool = False


@dataclass(frozen=True)
class Layout:
    """One table. `sections` are headings above blocks of rows, within which the best is sought; `order` is that of the
    rows in a block. The columns `leading` tell rows apart. `note` says what a reader must know."""

    sections: tuple[str, ...]
    columns: tuple[Shown, ...]
    order: str
    leading: tuple[str, ...]
    note: str = ""


def _interval(low: str, high: str, decimals: int) -> str:
    return f"printf('[%.{decimals}f, %.{decimals}f]', {low}, {high})"


def _known(text: str, figure: str, of: str) -> str:
    """The text, or that it cannot be told where there is `of` and no `figure`."""
    return f"CASE WHEN {of} IS NOT NULL AND {figure} IS NULL THEN 'cannot tell' ELSE {text} END"


_VERDICT = "CASE {0} WHEN 'not significant' THEN 'n.s.' ELSE {0} END"
_RATING = (
    Shown("rating", "round(rating)::BIGINT", "highest"),
    Shown("95% interval", _known(_interval("rating_low", "rating_high", 0), "rating_low", "rating")),
    Shown("ranks left open", _known("printf('%d-%d', rank_low, rank_high)", "rank_low", "rating")),
)

LAYOUTS = {
    "memory_gain": Layout(
        ("experiment", "protocol", "backbone", "split", "collection"),
        (
            Shown("baseline", "baseline"),
            Shown("gain", "delta", "highest"),
            Shown("95% interval", _known(_interval("ci_low", "ci_high", 4), "ci_low", "delta")),
            Shown("these datasets", _VERDICT.format("on_these_datasets")),
            Shown("other datasets", _VERDICT.format("to_other_datasets")),
            Shown("wins", "CASE WHEN delta IS NOT NULL THEN wins END"),
            Shown("ties", "CASE WHEN delta IS NOT NULL THEN ties END"),
            Shown("losses", "CASE WHEN delta IS NOT NULL THEN losses END"),
            Shown("why not", "excluded", optional=True),
        ),
        "baseline",
        ("baseline",),
        "gain: mean difference to wo_memory in min-max units, with its interval on these datasets; n.s.: not "
        "significant at 0.05 after Holm; cannot tell: no test could be, which does not mean no difference",
    ),
    "collection_rankings": Layout(
        ("experiment", "protocol", "split", "collection"),
        (
            Shown("rank", "rank"),
            Shown("backbone", "backbone"),
            Shown("baseline", "baseline"),
            Shown("weighted_average", "weighted_average", "highest"),
            Shown("z_score", "z_score", "highest"),
            *_RATING,
            Shown("why not ranked", "excluded", optional=True),
        ),
        "rank NULLS LAST, backbone, baseline",
        ("rank", "backbone", "baseline"),
        "rank: by weighted_average; ranks left open: those by rating that the intervals allow; cannot tell: too few "
        "samples for an interval",
    ),
    "leaderboard": Layout(
        ("experiment", "protocol", "split"),
        (
            Shown("rank", "rank"),
            Shown("backbone", "backbone"),
            Shown("baseline", "baseline"),
            Shown("weighted_average", "mean_weighted_average", "highest"),
            Shown("z_score", "mean_z_score", "highest"),
            Shown("mean_rank", "mean_rank", "lowest"),
            *_RATING,
            Shown("prompt_chars", "round(mean_prompt_chars)::BIGINT"),
            Shown("response_chars", "round(mean_response_chars)::BIGINT"),
            Shown("missing", "missing_collections", optional=True),
        ),
        "rank NULLS LAST, backbone, baseline",
        ("rank", "backbone", "baseline"),
        "rank: by the mean of weighted_average over all collections of the split, for systems that have them all; "
        "ranks left open: those by rating that the intervals allow; cannot tell: too few samples for an interval",
    ),
    "baseline_comparison": Layout(
        ("experiment", "protocol", "split", "collection"),
        (
            Shown("baseline", "baseline"),
            Shown("against", "other_baseline"),
            Shown("samples", "n_samples"),
            Shown("wins", "wins"),
            Shown("ties", "ties"),
            Shown("losses", "losses"),
            Shown("win_share", "win_share"),
            Shown("left out", "excluded", optional=True),
        ),
        "baseline, other_baseline",
        ("baseline", "against"),
        "wins: samples on which baseline has the higher score, over all backbones",
    ),
    "data_quality": Layout(
        (),
        (
            Shown("check", '"check"'),
            Shown("severity", "severity"),
            Shown("groups", "n_groups"),
            Shown("samples", "n_samples"),
            Shown("findings", "n_findings"),
            Shown("example", "example"),
        ),
        "CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, \"check\"",
        ("check",),
    ),
}


def layout(name: str) -> Layout | None:
    """How a view is laid out, if it is one of those that are; a view with invalid groups in it as the one without."""
    return LAYOUTS.get(name.removesuffix("_all"))


def standard_table(reader: SnapshotReader, name: str, chosen: Layout, filters: Mapping[str, Sequence[str]]) -> Result:
    """The rows of a view laid out; experiment and protocol are headings where there is more than one of them."""
    from pipelines.client.catalog import selection
    from pipelines.render import Style

    n_sections = len(chosen.sections)
    select = ", ".join([*chosen.sections, *(column.sql for column in chosen.columns)])
    query, parameters = selection(reader, name, filters)
    order = ", ".join([*chosen.sections, chosen.order])
    rows = reader.rows(f"SELECT {select} FROM ({query}) ORDER BY {order}", parameters)
    bold = _best(rows, chosen)
    headers = [*chosen.sections, *(column.header for column in chosen.columns)]
    kept = []
    for place in range(len(headers)):
        values = {row[place] for row in rows}
        if place < n_sections:
            dull = headers[place] in ("experiment", "protocol") and len(values) <= 1
        else:
            dull = chosen.columns[place - n_sections].optional and values <= {None}
        if not dull:
            kept.append(place)
    moved = {place: i for i, place in enumerate(kept)}
    style = Style(
        digits=DIGITS,
        sections=sum(place < n_sections for place in kept),
        narrow=True,
        bold={(number, moved[place]) for number, place in bold if place in moved},
        leading=chosen.leading,
    )
    return Result([headers[place] for place in kept], [tuple(row[place] for place in kept) for row in rows], style)


def _best(rows: Sequence[tuple[Any, ...]], chosen: Layout) -> set[tuple[int, int]]:
    """Where the best values of each block stand; nothing is the best of one."""
    n_sections = len(chosen.sections)
    blocks: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        blocks.setdefault(row[:n_sections], []).append(number)
    found = set()
    for place, column in enumerate(chosen.columns, start=n_sections):
        if column.best is not None:
            for numbers in blocks.values():
                values = {number: rows[number][place] for number in numbers}
                found |= {(number, place) for number in best_of(values, highest=column.best == "highest")}
    return found


def best_of(values: Mapping[Any, Any], *, highest: bool = True) -> set[Any]:
    """The keys of the best values, all that share the place; none where fewer than two are numbers."""
    numbers = {
        key: float(value)
        for key, value in values.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
    }
    if len(numbers) < 2:
        return set()
    best = max(numbers.values()) if highest else min(numbers.values())
    return {key for key, value in numbers.items() if value == best or abs(value - best) <= _TIE}
