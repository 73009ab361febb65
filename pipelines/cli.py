"""The command line, `mbw`. Thin: it parses, runs one command and turns its end into an exit status.

Commands are in `pipelines.commands`. Results go to stdout, messages to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from pipelines.commands import build, diff, export, query, status, table, ui, verify
from pipelines.commands.arguments import FAILED, INTERRUPTED, USAGE, is_interrupt
from pipelines.commands.interrupts import interrupts
from pipelines.errors import MemoryBenchWarehouseError, UsageError

COMMANDS = (build, status, query, table, verify, diff, export, ui)
DESCRIPTION = "Builds the MemoryBench result archive into a warehouse, and answers from it."
EPILOG = (
    "Exit status: 0 done; 1 failed, nothing was published and the old warehouse is untouched; 2 usage; 3 published, "
    "but some groups are quarantined or stale, or a check failed. Environment: MBW_SOURCE and MBW_WAREHOUSE override "
    "the defaults."
)


class _Parser(argparse.ArgumentParser):
    """Takes options by their whole names only, so that a new option never changes what an old command line means."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)


def make_parser() -> argparse.ArgumentParser:
    """The whole command line; docs/commands.md is rendered from it too."""
    parser = _Parser(prog="mbw", description=DESCRIPTION, epilog=EPILOG)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status. Bugs keep their traceback."""
    args = make_parser().parse_args(argv)
    try:
        with interrupts():
            run_status: int = args.run(args)
            sys.stdout.flush()
        return run_status
    except UsageError as error:
        print(f"mbw: {error}", file=sys.stderr)
        return USAGE
    except MemoryBenchWarehouseError as error:
        print(f"mbw: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # Whoever read our output has gone, which is no failure. What is left in the buffer must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except BaseException as error:
        if not is_interrupt(error):
            raise
        print("mbw: interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
