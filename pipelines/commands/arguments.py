"""Arguments that several commands take."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

#: Exit statuses.
DONE = 0
FAILED = 1
USAGE = 2
NEEDS_ATTENTION = 3
INTERRUPTED = 130


def add_warehouse(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--warehouse",
        metavar="DIR",
        type=folder,
        help="the warehouse's folder (default: MBW_WAREHOUSE, else ./warehouse)",
    )


def warehouse_of(args: argparse.Namespace) -> Path:
    """The folder that was given, or the default."""
    from pipelines.config import default_warehouse

    given: Path | None = args.warehouse
    return given if given is not None else default_warehouse()


def again(command: str, warehouse: Path) -> str:
    """A command to run on the same warehouse, which it names where it is not the default."""
    from pipelines.config import default_warehouse

    same = warehouse.absolute() == default_warehouse().absolute()
    return command if same else f"{command} --warehouse {shlex.quote(str(warehouse))}"


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="write the result as JSON, for machines")


def named(text: str) -> str:
    """A name that is not empty: a variable of a script that is not set must not stand for a default."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def folder(text: str) -> Path:
    """A folder, by a path that is not empty."""
    return Path(named(text))


def positive(text: str) -> int:
    """An argument type: a whole number from 1 on."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def key_value(text: str) -> tuple[str, str]:
    """An argument type: KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, found {text!r}")
    return key, value


def is_interrupt(error: BaseException) -> bool:
    """Whether it is Ctrl-C. DuckDB, interrupted in a query, raises errors of its own in place of Python's."""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "InterruptException":
        return True
    return type(error) is RuntimeError and str(error) == "Query interrupted"
