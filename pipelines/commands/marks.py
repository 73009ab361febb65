"""Marks of doubtful groups at their numbers, which numbers are the best, and how many groups are invalid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from pipelines.commands.layouts import layout

if TYPE_CHECKING:
    from pipelines.client.reader import SnapshotReader

#: Values that differ by no more than this are equally good.
_TIE = 1e-9
#: The views that are the summary table of a metric.
SUMMARY_TABLE = "summary_table_"
#: What follows a number that must not be taken at face value, and why.
INVALID, UNKNOWN, OUT_OF_SCALE, STALE = "!", "?", "#", "~"
_MEANINGS = {
    INVALID: "the group is invalid: see validity_reasons in result_groups",
    UNKNOWN: "whether the group is valid is unknown: it has no responses to judge by",
    OUT_OF_SCALE: "some scores lie outside of their dataset's range, or a published mean of min-max scores outside of "
    "0 to 1; numbers over samples take scores as they are, and whether a published one does is not known: "
    "n_out_of_scale and n_means_out_of_range in results",
    STALE: "the group is stale: its newest files are bad, and the numbers are those of its last good version, of "
    "first_revision in results",
}


def group_marks(reader: SnapshotReader) -> dict[tuple[str, str | None], str]:
    """The marks of each group and protocol that has any."""
    found: dict[tuple[str, str | None], str] = {}
    for group_id, protocol, validity, status, is_out_of_scale in reader.rows(
        "SELECT group_id, protocol, validity, status, n_out_of_scale > 0 OR n_means_out_of_range > 0 FROM results"
    ):
        mark = INVALID if validity == "invalid" else UNKNOWN if validity is None else ""
        mark += OUT_OF_SCALE if is_out_of_scale else ""
        mark += STALE if status == "stale" else ""
        if mark:
            found[group_id, protocol] = mark
    return found


def unranked_groups(reader: SnapshotReader, metric: str) -> set[tuple[str, str]]:
    """The groups and protocols by whose number nothing is ranked, so that it cannot be the best; a z_score goes with
    the weighted_average, of which ranks are."""
    return set(
        reader.rows(
            "SELECT group_id, protocol FROM published_means WHERE excluded IS NOT NULL AND metric = ?",
            ["weighted_average" if metric == "z_score" else metric],
        )
    )


def together(marks: Iterable[str]) -> str:
    """The marks of several groups as one, each once, in their order."""
    occurring = set("".join(marks))
    return "".join(mark for mark in _MEANINGS if mark in occurring)


def meanings(marks: Iterable[str]) -> list[str]:
    """A line for each mark that occurs."""
    return [f"{mark} {_MEANINGS[mark]}" for mark in together(marks)]


def n_invalid_groups(reader: SnapshotReader, name: str, filters: Mapping[str, Sequence[str]]) -> int:
    """How many groups that are invalid have numbers in a table, a view, or the summary table of a metric."""
    from pipelines.client.catalog import relations, selection
    from pipelines.client.summary_values import summary_values
    from pipelines.load.views import quoted

    is_relation = any(relation.name == name for relation in relations(reader))
    if not is_relation or name.startswith(SUMMARY_TABLE):
        values = summary_values(reader, name.removeprefix(SUMMARY_TABLE) if is_relation else name)
        found = {
            value[:5]
            for value in values
            if value.is_published
            and value.validity == "invalid"
            and all(getattr(value, key) in wanted for key, wanted in filters.items())
        }
        return len(found)
    query, parameters = selection(reader, name, filters)
    chosen = layout(name)
    if chosen is not None:
        if not chosen.groups or (not chosen.marked and not name.endswith("_all")):
            return 0  # no numbers of groups, or of valid ones alone
        groups, counted = chosen.groups, chosen.counted
    else:
        columns = reader.execute(f"{query} LIMIT 0", parameters).description or []
        numbers = [quoted(column) for column, kind, *_ in columns if str(kind) == "DOUBLE"]
        ids = [column for column, *_ in columns if column in ("group_id", "reference_group_id")]
        if not numbers or not ids:
            return 0
        groups, counted = f"[{', '.join(ids)}]", f"coalesce({', '.join(numbers)}) IS NOT NULL"
    ((count,),) = reader.rows(
        f"SELECT count(*) FROM result_groups WHERE validity = 'invalid' AND group_id IN "
        f"(SELECT DISTINCT unnest({groups}) FROM ({query}) AS shown WHERE {counted})",
        parameters,
    )
    return int(count)


def told_of_invalid(count: int) -> list[str]:
    """What is told beside exact numbers, which have no marks."""
    return [f"{count:,} invalid group{'s' if count > 1 else ''} in here: see validity in results"] if count else []


def best_of(values: Mapping[Any, Any], *, highest: bool = True) -> set[Any]:
    """The keys of the best values, all that share the place; none where fewer than two are finite numbers."""
    numbers = {
        key: value
        for key, value in values.items()
        # An integer is finite, and may be too large for a float to say so.
        if (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and isfinite(value))
    }
    if len(numbers) < 2:
        return set()
    best = max(numbers.values()) if highest else min(numbers.values())
    return {key for key, value in numbers.items() if value == best or _are_tied(value, best)}


def _are_tied(one: float, other: float) -> bool:
    try:
        return abs(one - other) <= _TIE
    except OverflowError:  # an integer that is larger than every float is near none
        return False
