"""`mbw build`: bring a warehouse up to date with an archive."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pipelines.commands.arguments import (
    DONE,
    INTERRUPTED,
    NEEDS_ATTENTION,
    add_json,
    add_warehouse,
    again,
    is_interrupt,
    key_value,
    named,
    positive,
    warehouse_of,
)
from pipelines.config import ENGINES, LOCAL, SPARK
from pipelines.errors import UsageError

if TYPE_CHECKING:
    from argparse import _SubParsersAction
    from collections.abc import Iterable
    from pathlib import Path

    from pipelines.findings import Finding
    from pipelines.refresh import RefreshReport

HELP = "build the warehouse from an archive, or refresh it"
DESCRIPTION = (
    "Builds the warehouse, or refreshes it: only what changed in the archive is read again. The result is published in "
    "one step; when anything fails, the old warehouse stays as it was. Ends with status 3 where it was published and "
    "some groups are quarantined or stale, or a check failed."
)
#: How many findings are printed; the table findings has them all.
SHOWN_FINDINGS = 5
SHOWN_SEVERITIES = ("error", "warning")
#: What a person is shown at the end.
SHOWN_METRIC = "weighted_average"


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("build", help=HELP, description=DESCRIPTION)
    parser.add_argument(
        "--source",
        metavar="sample|PATH|hf://datasets/OWNER/NAME[@REV]",
        type=named,
        help="the archive: the bundled sample, a folder, or a dataset on the Hub (default: MBW_SOURCE, else sample)",
    )
    add_warehouse(parser)
    parser.add_argument(
        "--jobs", metavar="N", type=positive, help="number of worker processes (default: one for each processor)"
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default=LOCAL,
        help="who reads the groups: worker processes of this machine, or the executors of Apache Spark, which needs "
        "the extra `spark` and Java 17 (default: local)",
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="the Spark master, such as spark://HOST:7077 or local[4] (default: local[*]); goes with --engine spark",
    )
    parser.add_argument(
        "--select",
        metavar="KEY=VALUE",
        type=key_value,
        action="append",
        default=[],
        help="read only groups with this experiment, backbone, split, collection or baseline and leave all others as "
        "they are; may be repeated: values of one key add up, keys narrow down",
    )
    parser.add_argument("--full", action="store_true", help="read every file again, also those that seem unchanged")
    parser.add_argument(
        "--embed-prompts", action="store_true", help="put the prompts into the DuckDB file too, which makes it large"
    )
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="download from the Hub into a temporary folder and leave its cache alone",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from pipelines.archive.sources import HubOptions, open_source
    from pipelines.commands.progress import download_bar, progress_for_terminal
    from pipelines.config import BuildOptions, default_jobs, default_source
    from pipelines.load.snapshots import Warehouse
    from pipelines.refresh import refresh

    started = perf_counter()
    check_engine(args)
    options = BuildOptions(
        jobs=args.jobs or default_jobs(),
        select=tuple(args.select),
        full=args.full,
        embed_prompts=args.embed_prompts,
        engine=args.engine,
        master=args.master,
    )
    warehouse = Warehouse(warehouse_of(args))
    before = warehouse.published()
    try:
        with (
            download_bar() as downloads,
            open_source(args.source or default_source(), HubOptions(args.no_cache, progress=downloads)) as source,
        ):
            report = refresh(source, warehouse, options, progress_for_terminal())
    except BaseException as error:
        if not is_interrupt(error):
            raise
        done = "nothing was published; run the build again"
        if warehouse.published() != before:
            done = "the new warehouse was published before that, and is whole"
        print(f"mbw: interrupted; {done}", file=sys.stderr)
        return INTERRUPTED
    for warning in report.warnings:
        print(f"mbw: {warning}", file=sys.stderr)
    summary = build_summary(report, warehouse.root, perf_counter() - started)
    if args.json:
        from pipelines.archive.json_reader import dumps

        print(dumps(summary, indent=4))
    else:
        print_summary(summary, warehouse.root)
        sys.stdout.flush()
        look = again("mbw report", warehouse.root)
        print(f"look at it: {look} writes these results as pages for a browser", file=sys.stderr)
    return NEEDS_ATTENTION if report.needs_attention else DONE


def check_engine(args: argparse.Namespace) -> None:
    """Whether the engine can be had, before anything is read.

    Raises:
        UsageError: a master without Spark, or Spark without pyspark or Java.
    """
    if args.engine == SPARK:
        from pipelines.spark.session import require_pyspark

        require_pyspark()
    elif args.master is not None:
        raise UsageError("--master goes with --engine spark.")


def build_summary(report: RefreshReport, root: Path, seconds: float) -> dict[str, Any]:
    """What a build did, as JSON has it. Rows are counted over the whole warehouse, prompts apart."""
    from pipelines.client.reader import SnapshotReader
    from pipelines.commands.status import counted
    from pipelines.load.snapshots import snapshot_size
    from schemas import TABLES

    with SnapshotReader(root) as reader:
        counts = " UNION ALL ".join(
            f"SELECT '{t.name}', count(*) FROM {t.name}" for t in TABLES.values() if t.in_database
        )
        rows = dict(reader.rows(counts))
        validity = counted(reader, "result_groups", "validity")
        [(derived,)] = reader.rows("SELECT count(*) FROM sample_scores WHERE origin = 'derived'")
        size = snapshot_size(reader.snapshot.path)
        snapshot = reader.snapshot.path.name
    return {
        "warehouse": str(root),
        "source": report.source,
        "previous_source": report.previous_source,
        "revision": report.revision,
        "published": report.published is not None,
        "snapshot": snapshot,
        "needs_attention": report.needs_attention,
        "groups": dict(sorted(report.groups_by_status.items())),
        "validity": validity,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "repaired": report.repaired,
        "rows": rows,
        "derived_scores": derived,
        "findings": dict(sorted(Counter(finding.severity for finding in report.findings).items())),
        "first_findings": [finding_text(finding) for finding in worst(report.findings)],
        "bytes_read": report.bytes_read,
        "bytes": size,
        "seconds": round(seconds, 3),
        "seconds_by_step": report.seconds,
    }


def worst(findings: Iterable[Finding]) -> list[Finding]:
    """The first errors and warnings, errors first."""
    ranked = [f for severity in SHOWN_SEVERITIES for f in findings if f.severity == severity]
    return ranked[:SHOWN_FINDINGS]


def finding_text(finding: Finding) -> str:
    """A finding in one line, with its place."""
    place = finding.file or finding.group_id or "archive"
    if finding.record is not None:
        place += f", record {finding.record}"
    return f"{finding.severity} ({finding.check}) {place}: {finding.message}"


def print_summary(summary: dict[str, Any], root: Path) -> None:
    """The same for people, with the summary table that everyone looks at first."""
    from pipelines.client.reader import SnapshotReader
    from pipelines.commands.output import FORMATS
    from pipelines.commands.status import listed, size_text, source_text
    from pipelines.commands.table import write_summary_table

    size, rows = summary["bytes"], summary["rows"]
    done = "published" if summary["published"] else "unchanged, nothing to publish"
    before = summary["previous_source"]
    moved = f" (before: {source_text(before)})" if before not in (None, summary["source"]) else ""
    derived = f" ({summary['derived_scores']:,} of them derived)" if summary["derived_scores"] else ""
    lines = {
        "warehouse": f"{summary['warehouse']} ({done}, snapshot {summary['snapshot']})",
        "source": f"{source_text(summary['source'])} at {summary['revision']}{moved}",
        "groups": f"{listed(summary['groups'])}; {len(summary['added'])} added, {len(summary['changed'])} changed, "
        f"{len(summary['removed'])} removed"
        + (f"; {len(summary['repaired'])} loaded again, whose files had been deleted" if summary["repaired"] else ""),
        "validity": listed(summary["validity"]),
        "rows": f"{rows['predictions']:,} predictions, {rows['sample_scores']:,} scores{derived}, "
        f"{rows['sample_metrics']:,} metrics, {sum(rows.values()):,} in all",
        "size": f"database {size_text(size['database'])}, Parquet {size_text(sum(size['parquet'].values()))}",
        "time": f"{summary['seconds']:.1f} s, {size_text(summary['bytes_read'])} read",
        "findings": listed(summary["findings"]) or "none",
    }
    for name, text in lines.items():
        print(f"{name:<11}{text}")
    for text in summary["first_findings"]:
        print(f"           {text}")
    more = sum(summary["findings"].get(severity, 0) for severity in SHOWN_SEVERITIES) - len(summary["first_findings"])
    if more:
        look = again("mbw query \"FROM findings WHERE severity <> 'info'\"", root)
        print(f"           … and {more} more: {look}")
    with SnapshotReader(root) as reader:
        published = reader.rows("SELECT 1 FROM summary_metrics WHERE metric = ? LIMIT 1", [SHOWN_METRIC])
        if published:
            print(f"\n{SHOWN_METRIC}, as published\n")
            write_summary_table(argparse.Namespace(format=FORMATS[0], output=None), reader, SHOWN_METRIC, {})
