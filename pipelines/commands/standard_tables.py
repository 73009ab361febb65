"""A standard result table as people are shown it: its layout filled with the rows of its view, and what they need to be
told below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipelines.commands.layouts import Layout
from pipelines.commands.marks import best_of, group_marks, meanings, together
from pipelines.commands.output import Result

if TYPE_CHECKING:
    from pipelines.client.reader import SnapshotReader

DIGITS = 4

#: What is known of the rows beside their columns, by its SQL: a value for each row.
Told = Mapping[str, Sequence[Any]]


def standard_table(reader: SnapshotReader, name: str, chosen: Layout, filters: Mapping[str, Sequence[str]]) -> Result:
    """The rows of a view laid out; experiment and protocol are headings where there is more than one of them."""
    from pipelines.client.catalog import selection
    from pipelines.render import Style

    n_sections = len(chosen.sections)
    headers = [*chosen.sections, *(column.header for column in chosen.columns)]
    behind = _behind(chosen)
    select = ", ".join([*chosen.sections, *(column.sql for column in chosen.columns), *behind])
    query, parameters = selection(reader, name, filters)
    order = ", ".join([*chosen.sections, chosen.order])
    found = reader.rows(f"SELECT {select} FROM ({query}) AS shown ORDER BY {order}", parameters)
    rows = [row[: len(headers)] for row in found]
    told = {sql: [row[place] for row in found] for place, sql in enumerate(behind, start=len(headers))}
    marks = _marks(reader, rows, headers, chosen, told)
    bold = _best(rows, chosen, told)
    reasons = {place for place, column in enumerate(chosen.columns, start=n_sections) if column.reasons}
    kept = []
    for place in range(len(headers)):
        values = {row[place] for row in rows}
        if headers[place] in ("experiment", "protocol") and place < n_sections:
            dull = len(values) <= 1
        else:
            dull = place in reasons and values <= {None}
        if not dull:
            kept.append(place)
    moved = {place: i for i, place in enumerate(kept)}
    style = Style(
        digits=DIGITS,
        decimals=chosen.decimals,
        sections=sum(place < n_sections for place in kept),
        narrow=True,
        marks={(number, moved[place]): mark for (number, place), mark in marks.items()},
        bold={(number, moved[place]) for number, place in bold if place in moved},
        noted={moved[place] for place in reasons if place in moved},
        leading=chosen.leading,
        caption=caption(chosen.caption, filters),
        bold_means=chosen.bold_means,
        legend=[
            *_legend(rows, headers, chosen),
            *_among(rows, headers, chosen, told),
            *_unknown(rows, headers, name, chosen, told),
            *meanings(marks.values()),
        ],
        nothing=_nothing(rows, headers, name, chosen),
    )
    return Result([headers[place] for place in kept], [tuple(row[place] for place in kept) for row in rows], style)


def _behind(chosen: Layout) -> list[str]:
    """The SQL of what is asked for of each row beside its columns, each once."""
    asked = [unknown.why for unknown in chosen.unknown]
    asked += [column.contends for column in chosen.columns if column.best is not None]
    if chosen.n_ranked is not None:
        asked.append(chosen.n_ranked)
    if chosen.marked and chosen.groups is not None:
        asked += ["protocol", chosen.groups]
    return list(dict.fromkeys(asked))


def _legend(rows: Sequence[tuple[Any, ...]], headers: Sequence[str], chosen: Layout) -> list[str]:
    """The lines about what is there to be seen."""
    seen = {header: {row[place] for row in rows} - {None} for place, header in enumerate(headers)}
    return [
        line.text
        for line in chosen.legend
        if (seen[line.header] if line.word is None else line.word in seen[line.header])
    ]


#: How many reasons are named for there being nothing to show.
_NAMED = 3


def _nothing(rows: Sequence[tuple[Any, ...]], headers: Sequence[str], name: str, chosen: Layout) -> str:
    """That no row has the table's figure, and why; empty where one has, or there are no rows."""
    if chosen.figure is None or not rows:
        return ""
    place = headers.index(chosen.figure.header)
    if any(row[place] is not None for row in rows):
        return ""
    of_reasons = next(headers.index(column.header) for column in chosen.columns if column.reasons)
    return f"{chosen.figure.nothing}: {_reasons([row[of_reasons] or chosen.figure.why for row in rows], name)}"


def _unknown(
    rows: Sequence[tuple[Any, ...]], headers: Sequence[str], name: str, chosen: Layout, told: Told
) -> list[str]:
    """Why columns are empty, where they are so in every row."""
    return [
        f"no {', '.join(unknown.headers)}: {_reasons(told[unknown.why], name)}"
        for unknown in chosen.unknown
        if rows and all(row[headers.index(header)] is None for header in unknown.headers for row in rows)
    ]


def _reasons(reasons: Sequence[str], name: str) -> str:
    """The reasons of all rows, each once; the rarest of many are counted alone."""
    counts = Counter(reasons)
    if len(counts) == 1:
        return reasons[0]
    named = ", ".join(f"{reason} ({count:,} of {len(reasons):,} rows)" for reason, count in counts.most_common(_NAMED))
    more = len(counts) - _NAMED
    return f"{named}{f', and for {more:,} other reasons, which {name} has as csv' if more > 0 else ''}"


def _among(rows: Sequence[tuple[Any, ...]], headers: Sequence[str], chosen: Layout, told: Told) -> list[str]:
    """Among how many systems the ranks are, where a filter left some of them out."""
    if chosen.n_ranked is None:
        return []
    rank = headers.index("rank")
    shown: Counter[tuple[Any, ...]] = Counter()
    ranked: dict[tuple[Any, ...], int] = {}
    for row, n_ranked in zip(rows, told[chosen.n_ranked], strict=True):
        if row[rank] is not None:
            block = row[: len(chosen.sections)]
            shown[block] += 1
            ranked[block] = n_ranked
    if all(shown[block] == n for block, n in ranked.items()):
        return []
    least, most = min(ranked.values()), max(ranked.values())
    among = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return [f"ranks are among all {among} systems of a {chosen.sections[-1]}, of which some are shown"]


def caption(text: str, filters: Mapping[str, Sequence[str]]) -> str:
    """The text, with what the table was restricted to."""
    only = "; ".join(f"{key} {', '.join(values)}" for key, values in filters.items())
    return f"{text} ({only})." if only else f"{text}."


def _marks(
    reader: SnapshotReader, rows: Sequence[tuple[Any, ...]], headers: Sequence[str], chosen: Layout, told: Told
) -> dict[tuple[int, int], str]:
    """The marks of all groups that a number is made of, behind the number."""
    if not chosen.marked or chosen.groups is None:
        return {}
    of_groups = group_marks(reader)
    places = [headers.index(header) for header in chosen.marked]
    found: dict[tuple[int, int], str] = {}
    for number, (row, protocol, groups) in enumerate(zip(rows, told["protocol"], told[chosen.groups], strict=True)):
        mark = together(of_groups.get((group_id, protocol), "") for group_id in groups or ())
        found |= {(number, place): mark for place in places if mark and row[place] is not None}
    return found


def _best(rows: Sequence[tuple[Any, ...]], chosen: Layout, told: Told) -> set[tuple[int, int]]:
    """Where the best values of each block stand. Nothing is the best of one, but where a verdict has it for better."""
    n_sections = len(chosen.sections)
    blocks: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        blocks.setdefault(row[:n_sections], []).append(number)
    found = set()
    for place, column in enumerate(chosen.columns, start=n_sections):
        if column.best is not None:
            contends = told[column.contends]
            for numbers in blocks.values():
                values = {number: rows[number][place] for number in numbers if contends[number]}
                is_alone = column.alone and len(values) == 1
                best = set(values) if is_alone else best_of(values, highest=column.best == "highest")
                found |= {(number, place) for number in best}
    return found
