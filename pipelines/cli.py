"""The command line, `mbw`. Thin: it parses, runs one command and turns its end into an exit status.

Commands are in `pipelines.commands`. Results go to stdout, messages to stderr.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from pipelines.commands import build, diff, export, query, report, status, table, ui, verify
from pipelines.commands.arguments import FAILED, INTERRUPTED, USAGE, is_interrupt
from pipelines.commands.interrupts import interrupts
from pipelines.commands.output import let_go_of_stdout
from pipelines.errors import MemoryBenchWarehouseError, UsageError

COMMANDS = (build, status, query, table, report, verify, diff, export, ui)
DESCRIPTION = "Builds the MemoryBench result archive into a warehouse, and answers from it."
EPILOG = (
    "Exit status: 0 done; 1 failed, nothing was published and the old warehouse is untouched; 2 usage; 3 published, "
    "but some groups are quarantined or stale, or a check failed. Environment: MBW_SOURCE and MBW_WAREHOUSE override "
    "the defaults."
)


#: What writing fails with, and nothing else does: not even a program without a fault can go on.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


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
    if sys.stderr is None:  # print would take standard output for it
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process
    args = make_parser().parse_args(argv)
    if sys.stdout is None:  # and a file that is opened, such as the database, would take its place
        print("mbw: standard output is closed; to see no result, send it to /dev/null", file=sys.stderr)
        return FAILED
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="strict" if getattr(args, "json", False) else "backslashreplace")
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
    except UnicodeEncodeError as error:
        if error.encoding.startswith("utf"):
            raise
        print(
            f"mbw: standard output takes {sys.stdout.encoding} text, which has no "
            f"{error.object[error.start : error.end]!a}; set PYTHONIOENCODING=utf-8, or write to a file",
            file=sys.stderr,
        )
        return FAILED
    except BrokenPipeError:
        let_go_of_stdout()  # whoever read our output has gone, which is no failure
        return 0
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        print(f"mbw: the output cannot be written: {error.strerror}", file=sys.stderr)
        if _is_unwritable(sys.stdout):
            let_go_of_stdout()
        return FAILED
    except BaseException as error:
        if not is_interrupt(error):
            raise
        print("mbw: interrupted", file=sys.stderr)
        return INTERRUPTED


def _is_unwritable(stream: TextIO) -> bool:
    """Whether something is still in the buffer because it cannot be written."""
    try:
        stream.flush()
    except OSError:
        return True
    return False
