"""`mbw table`: the publisher's summary table of a metric, or any standard table by its name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipelines.archive.groups import GroupKey
from pipelines.commands.arguments import DONE, add_warehouse, warehouse_of
from pipelines.commands.output import (
    LEADING,
    QueryResult,
    Result,
    add_output,
    check_output,
    fitted,
    for_people,
    write_result,
)
from pipelines.config import GENERATED, SAMPLE
from pipelines.errors import UsageError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pipelines.client.reader import SnapshotReader

HELP = "print a summary table or another standard table"
DESCRIPTION = (
    "Prints the summary table of a published metric (weighted_average, z_score, …): a row for each backbone, split and "
    "collection, a column for each baseline, values as published. With the name of a table or view, prints that. "
    "People are shown 4 decimals in summary tables and 4 significant digits elsewhere, the best in bold, and marks at "
    "results of groups that are invalid (!), of unknown validity (?), stale (~) or have scores or a published mean "
    "outside of their range (#); the standard result tables laid out, with n.s. where a gain is not significant and "
    "'cannot tell' where no test could be. Markdown and LaTeX, which needs the package booktabs, say below the table "
    "what marks mean, and the source and revision of the numbers. csv, json and parquet are exact and whole; invalid "
    "groups in them are told of on stderr."
)
DIGITS = 4
DECIMALS = 4


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("table", help=HELP, description=DESCRIPTION)
    parser.add_argument("name", metavar="METRIC|NAME", nargs="?", help="a metric, or a table or view of the warehouse")
    parser.add_argument("--list", action="store_true", help="list the metrics, tables and views that there are")
    parser.add_argument("--split", metavar="S", help="only this split: domain or task")
    parser.add_argument("--collection", metavar="C", help="only this collection, such as Legal")
    parser.add_argument("--backbone", metavar="B", action="append", help="only this backbone; may be repeated")
    parser.add_argument("--baseline", metavar="B", action="append", help="only this baseline; may be repeated")
    add_output(parser)
    add_warehouse(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from pipelines.client.catalog import relations, selection, unknown
    from pipelines.client.reader import SnapshotReader
    from pipelines.commands.layouts import layout
    from pipelines.commands.marks import SUMMARY_TABLE
    from pipelines.commands.standard_tables import caption, standard_table
    from pipelines.load.views import SUMMARY_METRICS
    from pipelines.render import Style

    check_output(args)
    if (args.name is None) != args.list:
        raise UsageError("mbw table takes the name of a metric, a table or a view; --list names them.")
    with SnapshotReader(warehouse_of(args)) as reader:
        metrics = [name for (name,) in reader.rows("SELECT DISTINCT metric FROM summary_metrics ORDER BY metric")]
        names = relations(reader)
        if args.list:
            rows = [(name, "metric", _meaning_of_metric(name)) for name in metrics]
            if for_people(check_output(args)):
                names = [name._replace(meaning=_in_short(name.name, name.meaning)) for name in names]
            style = Style(whole=True, wrap=True)
            write_result(args, fitted(args, Result(["name", "kind", "meaning"], [*rows, *names], style)))
            return DONE
        filters = _filters(args)
        _check_filters(reader, filters)
        kind = next((relation.kind for relation in names if relation.name == args.name), None)
        people = for_people(check_output(args))
        chosen = layout(args.name) if people else None
        result: Result
        if kind is not None and chosen is not None:
            result = standard_table(reader, args.name, chosen, filters)
        elif kind is not None:
            query, parameters = selection(reader, args.name, filters)
            style = Style(
                digits=DIGITS,
                narrow=True,
                leading=LEADING,
                caption=caption(args.name, filters),
                legend=_legend_of_validity(reader, query, parameters) if people else (),
            )
            if people and kind == "view" and args.name.startswith(SUMMARY_TABLE):
                style = replace(style, legend=_legend_of_gaps(reader.rows(query, parameters)))
            # Tables are stored in order; views have none, and their first columns are their grain.
            query += " ORDER BY ALL" if kind == "view" else ""
            result = QueryResult(reader, query, parameters, style)
        elif args.name in metrics:
            result = summary_table(reader, args.name, filters)
        elif args.name in SUMMARY_METRICS:
            published = f"; it publishes {', '.join(metrics)}" if metrics else ""
            raise UsageError(f"{args.name} is not published in this archive{published}. See: mbw table --list")
        else:
            known = [*metrics, *(relation.name for relation in names)]
            raise UsageError(f"{unknown('metric, table or view', args.name, known)} See: mbw table --list")
        write_result(args, fitted(args, _with_origin(reader, args.name, filters, result, people)))
    return DONE


def _with_origin(
    reader: SnapshotReader, name: str, filters: dict[str, list[str]], result: Result, people: bool
) -> Result:
    """The result, with what has to be said of where its numbers are from."""
    from pipelines.commands.marks import n_invalid_groups, told_of_invalid

    info = reader.snapshot.info
    warning = GENERATED if info.source == SAMPLE else ""
    if not people:
        result.remarks = [
            *told_of_invalid(n_invalid_groups(reader, name, filters)),
            *([warning] if warning else []),
        ]
    elif result.style is not None:
        provenance = f"source: {info.source}, revision {info.revision}"
        result.style = replace(result.style, provenance=provenance, warning=warning)
    return result


def _legend_of_validity(reader: SnapshotReader, query: str, parameters: list[Any]) -> list[str]:
    """What a missing validity means, where one is missing."""
    from pipelines.render import MISSING

    columns = [column for column, *_ in reader.execute(f"{query} LIMIT 0", parameters).description or []]
    if "validity" not in columns or not reader.rows(
        f"SELECT 1 FROM ({query}) WHERE validity IS NULL LIMIT 1", parameters
    ):
        return []
    return [f"validity {MISSING}: unknown, there are no responses to judge by"]


#: What a gap in a summary table means.
_GAP = (
    "{}: no number is published: the system was not run there, is not published or has no summary with the number, "
    "see the view coverage"
)


def _legend_of_gaps(rows: Sequence[Sequence[Any]]) -> list[str]:
    """What a cell without a number means, where there is one; the keys in front of a row are never missing."""
    from pipelines.render import MISSING

    return [_GAP.format(MISSING)] if any(value is None for row in rows for value in row) else []


def _filters(args: argparse.Namespace) -> dict[str, list[str]]:
    given = {
        "split": args.split and [args.split],
        "collection": args.collection and [args.collection],
        "backbone": args.backbone,
        "baseline": args.baseline,
    }
    return {key: values for key, values in given.items() if values}


def _check_filters(reader: SnapshotReader, filters: dict[str, list[str]]) -> None:
    from pipelines.client.catalog import unknown

    for key, values in filters.items():
        known = [value for (value,) in reader.rows(f"SELECT DISTINCT {key} FROM result_groups ORDER BY {key}")]
        for value in values:
            if value not in known:
                raise UsageError(unknown(key, value, known))


def write_summary_table(
    args: argparse.Namespace, reader: SnapshotReader, metric: str, filters: dict[str, list[str]]
) -> None:
    """Write the summary table of a metric."""
    write_result(args, fitted(args, summary_table(reader, metric, filters)))


def _meaning_of_metric(name: str) -> str:
    from pipelines.load.views import SUMMARY_METRICS

    view = f", as the view summary_table_{name}" if name in SUMMARY_METRICS else ""
    return f"Summary table of the published {name}: a column for each baseline{view}."


def _in_short(name: str, meaning: str) -> str:
    """The first sentence of what a relation is; of one with invalid groups in it, that."""
    if name.endswith("_all"):
        return f"The same as {name.removesuffix('_all')}, with invalid groups in it."
    return meaning.split(". ")[0].removesuffix(".") + "."


def summary_table(reader: SnapshotReader, metric: str, filters: dict[str, list[str]]) -> Result:
    """The published values of a metric: experiment and protocol are columns where there is more than one of them.

    Values of different protocols stand in rows of their own. A baseline has a column where it occurs at all in what is
    asked for; the order is that of the names, or that of the filter.
    """
    from pipelines.client.summary_values import summary_values
    from pipelines.commands.marks import best_of, group_marks, meanings, unranked_groups
    from pipelines.commands.standard_tables import caption
    from pipelines.load.views import SUMMARY_METRICS
    from pipelines.render import Style

    values = [
        value
        for value in summary_values(reader, metric)
        if all(getattr(value, key) in wanted for key, wanted in filters.items())
    ]
    everywhere = sorted({value.protocol for value in values if value.protocol})
    protocols: dict[tuple[str, ...], set[str]] = {}
    for value in values:
        if value.protocol:
            protocols.setdefault(value[:4], set()).add(value.protocol)
    of_groups = group_marks(reader)
    cells: dict[tuple[str, str, str, str, str], dict[str, Any]] = {}
    found_marks: dict[tuple[tuple[str, ...], str], str] = {}
    unranked = unranked_groups(reader, metric)
    no_best = set()
    for value in values:
        # A group without the metric belongs to every row of its block: there it leaves a gap.
        found = [value.protocol] if value.protocol else sorted(protocols.get(value[:4], ())) or everywhere[:1] or [""]
        for protocol in found:
            row = (value.experiment, protocol, value.backbone, value.split, value.collection)
            cells.setdefault(row, {})
            if value.is_published:
                cells[row][value.baseline] = value.value
                of_group = (GroupKey(*value[:5]).group_id, protocol)
                if mark := of_groups.get(of_group):
                    found_marks[row, value.baseline] = mark
                if value.validity == "invalid" or of_group in unranked:
                    no_best.add((row, value.baseline))
    baselines = list(dict.fromkeys(filters.get("baseline") or sorted({value.baseline for value in values})))
    keys = ["experiment", "protocol", "backbone", "split", "collection"]
    shown = [i for i in range(5) if i > 1 or len({row[i] for row in cells}) > 1]
    rows, marks = [], {}
    for number, row in enumerate(sorted(cells)):
        rows.append((*(row[i] for i in shown), *(cells[row].get(name) for name in baselines)))
        for i, name in enumerate(baselines):
            if (row, name) in found_marks:
                marks[number, len(shown) + i] = found_marks[row, name]
    bold = set()
    if metric in SUMMARY_METRICS:
        for number, row in enumerate(sorted(cells)):
            counted = {name: cells[row].get(name) for name in baselines if (row, name) not in no_best}
            bold |= {(number, len(shown) + baselines.index(name)) for name in best_of(counted)}
    style = Style(
        decimals=DECIMALS,
        sections=len(shown) - 2,
        narrow=True,
        marks=marks,
        bold=bold,
        leading=("split", "collection"),
        caption=caption(f"{metric} of every system, as published", filters),
        bold_means="the best of its row",
        legend=[*meanings(marks.values()), *_legend_of_gaps(rows)],
    )
    return Result([*(keys[i] for i in shown), *baselines], rows, style)
