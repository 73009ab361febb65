"""How people are shown the standard result tables: which columns, in what order, and what is set in bold.

What is measured is settled in sql/; here it is only laid out. Machines get the views as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pipelines.commands.output import Result

if TYPE_CHECKING:
    from pipelines.client.reader import SnapshotReader

DIGITS = 4
#: Values that differ by no more than this are equally good.
_TIE = 1e-9
#: The views that are the summary table of a metric.
_SUMMARY_TABLE = "summary_table_"


class Shown(NamedTuple):
    """One column: its header, the SQL that gives it, which end of it is the best, whether it holds reasons, which
    stand below the table, and is left out where it is empty throughout, and the SQL of whether a row's value may be the
    best. With `alone`, a value that is the only one that may is the best."""

    header: str
    sql: str
    best: Literal["highest", "lowest"] | None = None
    reasons: bool = False
    contends: str = "true"
    alone: bool = False


class Explained(NamedTuple):
    """A line of a legend, for where the column is shown, and the word in it."""

    header: str
    text: str
    word: str | None = None


class Figure(NamedTuple):
    """The column without which a table says nothing, what is said in its place then, and why it is so where the row
    says nothing itself."""

    header: str
    nothing: str
    why: str


class Unknown(NamedTuple):
    """Columns that may be empty throughout, and the SQL of the reason why they are in a row."""

    headers: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Layout:
    """One table. `sections` are headings above blocks of rows, within which the best is sought; `order` is that of the
    rows in a block. The columns `leading` tell rows apart. `legend` says what a reader must know, a line for each
    thing. `groups` is the SQL of a list of the groups that a row's numbers are made of, `counted` which rows have
    any, and `marked` are the columns that get their marks. `bold_means` is what the best is called. `unknown` has the
    reasons of columns that no reason stands beside. `n_ranked` is the SQL of how many systems a row is ranked among."""

    caption: str
    sections: tuple[str, ...]
    columns: tuple[Shown, ...]
    order: str
    leading: tuple[str, ...]
    legend: tuple[Explained, ...] = ()
    figure: Figure | None = None
    groups: str | None = None
    counted: str = "true"
    marked: tuple[str, ...] = ()
    decimals: int | None = None
    bold_means: str = "the best of its block"
    unknown: tuple[Unknown, ...] = ()
    n_ranked: str | None = None


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

_NOT_RATED = Unknown(
    ("rating", "95% interval", "ranks left open"),
    "coalesce(regexp_replace(rating_pool, '^not rated: ', ''), 'there is nothing to compare')",
)
_CANNOT_TELL = Explained("95% interval", "cannot tell: too few samples for an interval", "cannot tell")
_BRADLEY_TERRY = (
    "Bradley-Terry, from how often a system beats others on the same sample; 1000 is the mean of the systems rated{}, "
    "and 100 points are a win rate of 64 %"
)
_LEFT_OPEN = Explained("ranks left open", "ranks left open: those by rating that its 95% interval allows")
_NO_SCORES = "no sample has a published score on both sides"

LAYOUTS = {
    "memory_gain": Layout(
        "What memory gains over the same backbone without it",
        ("experiment", "protocol", "backbone", "split", "collection"),
        (
            Shown("baseline", "baseline"),
            # Bold is read as a win: what may be chance, or is a loss, is none, also where nothing else is higher.
            Shown(
                "gain", "delta", "highest", contends=f"{_VERDICT.format('on_these_datasets')} = 'better'", alone=True
            ),
            Shown("95% interval", _known(_interval("ci_low", "ci_high", 4), "ci_low", "delta")),
            Shown("these datasets", _VERDICT.format("on_these_datasets")),
            Shown("other datasets", _VERDICT.format("to_other_datasets")),
            Shown("n", "CASE WHEN delta IS NOT NULL THEN n END"),
            Shown("datasets", "CASE WHEN delta IS NOT NULL THEN n_clusters END"),
            Shown("wins", "CASE WHEN delta IS NOT NULL THEN wins END"),
            Shown("ties", "CASE WHEN delta IS NOT NULL THEN ties END"),
            Shown("losses", "CASE WHEN delta IS NOT NULL THEN losses END"),
            Shown("why not", "excluded", reasons=True),
        ),
        "baseline",
        ("baseline",),
        (
            Explained(
                "gain", "gain: mean difference to wo_memory over n common samples of so many datasets, in min-max units"
            ),
            Explained(
                "these datasets",
                "these datasets: would it hold for other questions of them? n.s.: not significant at 0.05 after Holm; "
                "cannot tell: a dataset has a single sample, or no difference varies",
            ),
            Explained(
                "95% interval",
                "95% interval: of this system alone, not adjusted for there being several; the verdict is (Holm), so "
                "that it may be n.s. where the interval is without 0",
            ),
            Explained(
                "other datasets",
                "other datasets: would it hold for datasets that the benchmark does not have? cannot tell: of so few "
                "no result could be significant, which does not mean no difference",
            ),
        ),
        Figure("gain", "no gain can be computed", _NO_SCORES),
        "[group_id, reference_group_id]",
        "delta IS NOT NULL",
        ("gain",),
        4,  # as in its interval
        "the highest of its block among gains that are better on these datasets",
    ),
    "collection_rankings": Layout(
        "Systems ranked in each collection",
        ("experiment", "protocol", "split", "collection"),
        (
            Shown("rank", "rank"),
            Shown("backbone", "backbone"),
            Shown("baseline", "baseline"),
            Shown("weighted_average", "weighted_average", "highest", contends="rank IS NOT NULL"),
            Shown("z_score", "z_score", "highest"),
            *_RATING,
            Shown("why not ranked", "excluded", reasons=True),
        ),
        "rank NULLS LAST, backbone, baseline",
        ("rank", "backbone", "baseline"),
        (
            Explained("rank", "rank: by weighted_average"),
            Explained("rating", f"rating: {_BRADLEY_TERRY.format('')}"),
            _LEFT_OPEN,
            _CANNOT_TELL,
        ),
        None,
        "[group_id]",
        "coalesce(weighted_average, z_score) IS NOT NULL",
        ("weighted_average", "z_score"),
        unknown=(_NOT_RATED,),
        n_ranked="n_ranked",
    ),
    "leaderboard": Layout(
        "Systems ranked over all collections of a split",
        ("experiment", "protocol", "split"),
        (
            Shown("rank", "rank"),
            Shown("backbone", "backbone"),
            Shown("baseline", "baseline"),
            Shown("mean_weighted_average", "mean_weighted_average", "highest"),
            Shown("mean_z_score", "mean_z_score", "highest"),
            Shown("mean_rank", "mean_rank", "lowest"),
            *_RATING,
            Shown("prompt_chars", "round(mean_prompt_chars)::BIGINT"),
            Shown("response_chars", "round(mean_response_chars)::BIGINT"),
            Shown("missing", "missing_collections", reasons=True),
        ),
        "rank NULLS LAST, backbone, baseline",
        ("rank", "backbone", "baseline"),
        (
            Explained(
                "rank",
                "rank: by the mean of weighted_average over all collections of the split, for systems that have them "
                "all",
            ),
            Explained(
                "mean_rank",
                "mean_weighted_average, mean_z_score, mean_rank: means over the collections of the split, each "
                "weighing the same",
            ),
            Explained(
                "rating", f"rating: mean over the collections of ratings; {_BRADLEY_TERRY.format(' in a collection')}"
            ),
            _LEFT_OPEN,
            _CANNOT_TELL,
        ),
        None,
        "(SELECT list(r.group_id) FROM result_groups AS r WHERE r.experiment = shown.experiment "
        "AND r.split = shown.split AND r.backbone = shown.backbone AND r.baseline = shown.baseline)",
        "coalesce(mean_weighted_average, mean_z_score) IS NOT NULL",
        ("mean_weighted_average", "mean_z_score"),
        unknown=(
            _NOT_RATED,
            Unknown(
                ("prompt_chars", "response_chars"), "'known only where all responses of every collection are published'"
            ),
        ),
        n_ranked="n_ranked",
    ),
    "baseline_comparison": Layout(
        "Memory systems compared sample by sample",
        ("experiment", "protocol", "split", "collection"),
        (
            Shown("baseline", "baseline"),
            Shown("against", "other_baseline"),
            Shown("samples", "n_samples"),
            Shown("wins", "wins"),
            Shown("ties", "ties"),
            Shown("losses", "losses"),
            Shown("win_share", "win_share"),
            Shown("left out", "excluded", reasons=True),
        ),
        "baseline, other_baseline",
        ("baseline", "against"),
        (Explained("wins", "wins: samples on which baseline has the higher score, over all backbones"),),
        Figure("wins", "nothing can be compared", _NO_SCORES),
        "(SELECT list(r.group_id) FROM result_groups AS r WHERE r.experiment = shown.experiment "
        "AND r.split = shown.split AND r.collection = shown.collection "
        "AND r.baseline IN (shown.baseline, shown.other_baseline))",
        "wins IS NOT NULL",
    ),
    "coverage": Layout(
        "What is published and loaded",
        ("experiment", "split", "collection"),
        (
            Shown("backbone", "backbone"),
            Shown("baseline", "baseline"),
            Shown("status", "status"),
            Shown(
                "what there is",
                "CASE WHEN group_id IS NOT NULL THEN concat_ws(', ', CASE WHEN has_predictions THEN 'predictions' END, "
                "CASE WHEN has_evaluations THEN 'evaluations' END, CASE WHEN has_summary THEN 'summary' END) END",
            ),
            Shown("predictions", "n_predictions"),
            Shown("evaluations", "n_evaluations"),
            Shown("scores", "n_scores"),
            Shown("protocols", "protocols"),
            Shown("validity", "CASE WHEN group_id IS NOT NULL THEN coalesce(validity, 'unknown') END"),
            Shown("why", "validity_reasons", reasons=True),
        ),
        "backbone, baseline",
        ("backbone", "baseline"),
        (
            Explained(
                "status",
                "complete: every file that the archive names for the group is loaded, which may be the summary alone: "
                "see what there is",
                "complete",
            ),
            Explained("status", "not_published: the archive does not name the group", "not_published"),
            Explained("validity", "validity unknown: there are no responses to judge by", "unknown"),
        ),
    ),
    "data_quality": Layout(
        "What the checks found",
        (),
        (
            Shown("check", '"check"'),
            Shown("severity", "severity"),
            Shown("groups", "n_groups"),
            Shown("rows", "n_rows"),
            Shown("findings", "n_findings"),
            Shown("example", "example"),
        ),
        "CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, \"check\"",
        ("check",),
        (
            Explained(
                "rows",
                "rows: how many rows of tables failed; findings: rows of the table findings, each for one or many such",
            ),
        ),
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
    contends = [column.contends for column in chosen.columns if column.best is not None]
    select = ", ".join([*chosen.sections, *(column.sql for column in chosen.columns)])
    select += "".join(f", {unknown.why}" for unknown in chosen.unknown)
    if chosen.n_ranked is not None:
        select += f", {chosen.n_ranked}"
    select += "".join(f", {sql}" for sql in contends)
    if chosen.marked:
        select += f", protocol, {chosen.groups}"
    query, parameters = selection(reader, name, filters)
    order = ", ".join([*chosen.sections, chosen.order])
    rows = reader.rows(f"SELECT {select} FROM ({query}) AS shown ORDER BY {order}", parameters)
    headers = [*chosen.sections, *(column.header for column in chosen.columns)]
    marks = _marks(reader, rows, headers, chosen)
    bold = _best(rows, headers, chosen)
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
            *_among(rows, headers, chosen),
            *_unknown(rows, headers, name, chosen),
            *meanings(marks.values()),
        ],
        nothing=_nothing(rows, headers, name, chosen),
    )
    return Result([headers[place] for place in kept], [tuple(row[place] for place in kept) for row in rows], style)


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


def _unknown(rows: Sequence[tuple[Any, ...]], headers: Sequence[str], name: str, chosen: Layout) -> list[str]:
    """Why columns are empty, where they are so in every row."""
    found = []
    for place, unknown in enumerate(chosen.unknown, start=len(headers)):
        if rows and all(row[headers.index(header)] is None for header in unknown.headers for row in rows):
            found.append(f"no {', '.join(unknown.headers)}: {_reasons([row[place] for row in rows], name)}")
    return found


def _reasons(reasons: Sequence[str], name: str) -> str:
    """The reasons of all rows, each once; the rarest of many are counted alone."""
    counts = Counter(reasons)
    if len(counts) == 1:
        return reasons[0]
    named = ", ".join(f"{reason} ({count:,} of {len(reasons):,} rows)" for reason, count in counts.most_common(_NAMED))
    more = len(counts) - _NAMED
    return f"{named}{f', and for {more:,} other reasons: mbw table {name} --format csv' if more > 0 else ''}"


def _among(rows: Sequence[tuple[Any, ...]], headers: Sequence[str], chosen: Layout) -> list[str]:
    """Among how many systems the ranks are, where a filter left some of them out."""
    if chosen.n_ranked is None:
        return []
    place = len(headers) + len(chosen.unknown)
    rank = headers.index("rank")
    shown: Counter[tuple[Any, ...]] = Counter()
    ranked: dict[tuple[Any, ...], int] = {}
    for row in rows:
        if row[rank] is not None:
            block = row[: len(chosen.sections)]
            shown[block] += 1
            ranked[block] = row[place]
    if all(shown[block] == n for block, n in ranked.items()):
        return []
    least, most = min(ranked.values()), max(ranked.values())
    among = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return [f"ranks are among all {among} systems of a {chosen.sections[-1]}, of which some are shown"]


def n_invalid_groups(reader: SnapshotReader, name: str, filters: Mapping[str, Sequence[str]]) -> int:
    """How many groups that are invalid have numbers in a table, a view, or the summary table of a metric."""
    from pipelines.client.catalog import relations, selection
    from pipelines.client.summary_values import summary_values
    from pipelines.load.views import quoted

    is_relation = any(relation.name == name for relation in relations(reader))
    if not is_relation or name.startswith(_SUMMARY_TABLE):
        values = summary_values(reader, name.removeprefix(_SUMMARY_TABLE) if is_relation else name)
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


def caption(text: str, filters: Mapping[str, Sequence[str]]) -> str:
    """The text, with what the table was restricted to."""
    only = "; ".join(f"{key} {', '.join(values)}" for key, values in filters.items())
    return f"{text} ({only})." if only else f"{text}."


#: What follows a number that must not be taken at face value, and why.
INVALID, UNKNOWN, OUT_OF_SCALE = "!", "?", "#"
_MEANINGS = {
    INVALID: "the group is invalid: see validity_reasons in result_groups",
    UNKNOWN: "whether the group is valid is unknown: it has no responses to judge by",
    OUT_OF_SCALE: "some scores lie outside of their dataset's range, or a published mean of min-max scores outside of "
    "0 to 1; numbers over samples take scores as they are, and whether a published one does is not known: "
    "n_out_of_scale and n_means_out_of_range in results",
}


def group_marks(reader: SnapshotReader) -> dict[tuple[str, str | None], str]:
    """The marks of each group and protocol that has any."""
    found: dict[tuple[str, str | None], str] = {}
    for group_id, protocol, validity, is_out_of_scale in reader.rows(
        "SELECT group_id, protocol, validity, n_out_of_scale > 0 OR n_means_out_of_range > 0 FROM results"
    ):
        mark = INVALID if validity == "invalid" else UNKNOWN if validity is None else ""
        mark += OUT_OF_SCALE if is_out_of_scale else ""
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


def meanings(marks: Iterable[str]) -> list[str]:
    """A line for each mark that occurs."""
    occurring = set("".join(marks))
    return [f"{mark} {meaning}" for mark, meaning in _MEANINGS.items() if mark in occurring]


def _marks(
    reader: SnapshotReader, rows: Sequence[tuple[Any, ...]], headers: Sequence[str], chosen: Layout
) -> dict[tuple[int, int], str]:
    """The marks of all groups that a number is made of, behind the number."""
    if not chosen.marked:
        return {}
    of_groups = group_marks(reader)
    places = [headers.index(header) for header in chosen.marked]
    found: dict[tuple[int, int], str] = {}
    for number, row in enumerate(rows):
        protocol, groups = row[-2:]
        occurring = "".join(of_groups.get((group_id, protocol), "") for group_id in groups or ())
        mark = "".join(mark for mark in _MEANINGS if mark in occurring)
        found |= {(number, place): mark for place in places if mark and row[place] is not None}
    return found


def _best(rows: Sequence[tuple[Any, ...]], headers: Sequence[str], chosen: Layout) -> set[tuple[int, int]]:
    """Where the best values of each block stand. Nothing is the best of one, but where a verdict has it for better."""
    n_sections = len(chosen.sections)
    # Whether they contend stands behind what else is asked for, for those columns that have a best.
    behind = len(headers) + len(chosen.unknown) + (chosen.n_ranked is not None)
    contends = iter(range(behind, len(rows[0]) if rows else 0))
    blocks: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        blocks.setdefault(row[:n_sections], []).append(number)
    found = set()
    for place, column in enumerate(chosen.columns, start=n_sections):
        if column.best is not None and rows:
            contending = next(contends)
            for numbers in blocks.values():
                values = {number: rows[number][place] for number in numbers if rows[number][contending]}
                is_alone = column.alone and len(values) == 1
                best = set(values) if is_alone else best_of(values, highest=column.best == "highest")
                found |= {(number, place) for number in best}
    return found


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
