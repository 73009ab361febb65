"""`mbw verify`: check the warehouse against everything that can be checked."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from pipelines.commands.arguments import DONE, NEEDS_ATTENTION, add_json, add_warehouse, warehouse_of

if TYPE_CHECKING:
    from argparse import _SubParsersAction

HELP = "check the warehouse: contract, expectations, audits, reconciliation, round trip"
DESCRIPTION = (
    "Checks the published warehouse and says what passed, what failed and where, and what cannot be checked. Ends with "
    "status 3 where a check failed. Changes no data."
)


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("verify", help=HELP, description=DESCRIPTION)
    parser.add_argument(
        "--docs",
        action="store_true",
        help="also write the results of the expectations as web pages, which open from the file: quality/data_docs",
    )
    add_json(parser)
    add_warehouse(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from pipelines.archive.json_reader import dumps
    from pipelines.commands.output import print_even_unread
    from pipelines.commands.progress import progress_for_terminal
    from pipelines.config import default_jobs
    from pipelines.load.snapshots import Warehouse
    from pipelines.quality.verify import archive_of, verify

    warehouse = Warehouse(warehouse_of(args))
    source = archive_of(warehouse.require_current())
    progress = progress_for_terminal()
    progress.start("verify", 0)
    try:
        report = verify(warehouse, source, jobs=default_jobs(), on_group=lambda group: progress.advance(group, 0))
    finally:
        progress.end()
    print_even_unread(dumps(report.as_dict(), indent=4) if args.json else report.as_text())
    if args.docs:
        from pipelines.quality.validation import write_data_docs

        page = write_data_docs(warehouse.require_current().path)
        print(f"data docs: {page}", file=sys.stderr)
    return NEEDS_ATTENTION if report.failed else DONE
