"""`mbw report`: the results as a static site, for people who do not write SQL."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.commands.arguments import DONE, add_json, add_warehouse, warehouse_of

if TYPE_CHECKING:
    from argparse import _SubParsersAction

HELP = "write the results as a web site that opens from the file"
DESCRIPTION = (
    "Writes a static site with the results of the warehouse: overview, leaderboard, collections, datasets, comparison "
    "of two systems, samples, quality and changes. It needs no server and no network. An earlier report in its place "
    "is replaced in one step; other files in the folder stay."
)


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("report", help=HELP, description=DESCRIPTION)
    parser.add_argument(
        "--output", metavar="DIR", type=Path, help="the folder to write (default: report in the warehouse's folder)"
    )
    add_json(parser)
    add_warehouse(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from pipelines.commands.status import size_text
    from pipelines.report.site import write_report

    report = write_report(warehouse_of(args), args.output)
    if args.json:
        from pipelines.archive.json_reader import dumps

        print(
            dumps(
                {
                    "report": str(report.path),
                    "first_page": str(report.first_page),
                    "revision": report.revision,
                    "files": report.n_files,
                    "bytes": report.n_bytes,
                    "samples": report.n_samples,
                },
                indent=4,
            )
        )
    else:
        lines = {
            "report": report.first_page,
            "revision": report.revision,
            "size": f"{report.n_files:,} files, {size_text(report.n_bytes)}, {report.n_samples:,} samples",
        }
        for name, text in lines.items():
            print(f"{name:<11}{text}")
    return DONE
