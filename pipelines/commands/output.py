"""Writes a result in the format that was asked for, to stdout or a file."""

from __future__ import annotations

import argparse
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TextIO
from uuid import uuid4

from pipelines.errors import MemoryBenchWarehouseError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.client.reader import Parameters, SnapshotReader
    from pipelines.render import Style

FORMATS = ("table", "csv", "json", "markdown", "latex", "parquet")
#: Which format a file's ending asks for.
ENDINGS = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex", ".parquet": "parquet"}
#: What tells rows apart where a table is too wide for a terminal, in the order of the tables' columns.
LEADING = (
    *("backbone", "split", "collection", "baseline"),
    *("dataset_group", "dataset", "test_idx", "check", "name", "metric"),
)
_FETCH_ROWS = 10_000


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="how to write the result; table shortens long texts, all others have them whole; JSON writes NaN and "
        "infinities as text (default: by the ending of --output, else table)",
    )
    parser.add_argument("--output", metavar="FILE", type=Path, help="write to FILE (parquet needs it)")


@dataclass
class Result:
    """Columns and rows, how people are shown them, and what is told beside an exact format."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    style: Style | None = None
    remarks: Sequence[str] = ()

    def arrow(self) -> pa.Table:
        """Everything as Arrow; a column of mixed types becomes text."""
        import pyarrow as pa

        from pipelines.render import unique_names

        columns = list(zip(*self.rows, strict=True)) or [() for _ in self.columns]
        return pa.table([_arrow_column(column) for column in columns], names=unique_names(self.columns))


class QueryResult(Result):
    """The result of a query, read bit by bit."""

    def __init__(
        self, reader: SnapshotReader, query: str, parameters: Parameters = (), style: Style | None = None
    ) -> None:
        self._arrow = lambda: reader.arrow(query, parameters)
        self._execute = lambda: reader.execute(query, parameters)
        super().__init__([], [], style)

    def run(self) -> None:
        """Run the query; before, there are no columns."""
        cursor = self._execute()
        self.columns = [column[0] for column in cursor.description or []]
        self.rows = chain.from_iterable(iter(lambda: cursor.fetchmany(_FETCH_ROWS), []))

    def arrow(self) -> pa.Table:
        from pipelines.render import unique_names

        table = self._arrow()
        return table.rename_columns(unique_names(table.column_names))


def _arrow_column(values: tuple[Any, ...]) -> pa.Array:
    import pyarrow as pa

    from pipelines.archive.json_reader import dumps

    kinds = {type(value) for value in values if value is not None}
    if not kinds or kinds <= {int, float}:
        try:
            return pa.array(values, pa.int64() if kinds == {int} else pa.float64())
        except (OverflowError, pa.ArrowInvalid):
            pass  # an integer that no number column holds: as text
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([v if v is None or isinstance(v, str) else dumps(v) for v in values], pa.string())


def check_output(args: argparse.Namespace) -> str:
    """The format to write, before any work is done.

    Raises:
        UsageError: Parquet without a file to write it to, or a file in the folder of a warehouse.
    """
    from pipelines.places import warehouse_around

    chosen: str | None = args.format
    if chosen is None:
        chosen = ENDINGS.get(args.output.suffix.lower(), "table") if args.output is not None else "table"
    if chosen == "parquet" and args.output is None:
        raise UsageError("--format parquet needs --output FILE.")
    if args.output is not None and not _is_written_through(args.output) and warehouse_around(args.output):
        raise UsageError(f"{args.output} lies inside of a warehouse. Choose another with --output.")
    return chosen


def fitted(args: argparse.Namespace, result: Result) -> Result:
    """The result, laid out for the terminal that it is written to, if it is."""
    if result.style is not None and getattr(args, "output", None) is None and sys.stdout.isatty():
        result.style = replace(result.style, width=get_terminal_size().columns)
    return result


def write_result(args: argparse.Namespace, result: Result) -> None:
    """Write the result as the arguments say."""
    chosen = check_output(args)
    if args.output is None:
        if isinstance(result, QueryResult):
            result.run()
        with _whole_text(chosen):
            remarks = _write(sys.stdout, chosen, result)
        tell(remarks)
        return
    try:
        with _replaced(args.output) as path:
            if chosen == "parquet":
                import pyarrow.parquet as pq

                pq.write_table(result.arrow(), path, compression="zstd")
                remarks = result.remarks
            else:
                if isinstance(result, QueryResult):
                    result.run()
                with open(path, "w", encoding="utf-8", newline="") as stream:
                    remarks = _write(stream, chosen, result)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise MemoryBenchWarehouseError(f"{args.output} cannot be written: {error.strerror or error}.") from error
    tell(remarks)


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """A file to write, which takes the place of `path` at the end: a query that fails leaves that alone."""
    if _is_written_through(path):
        yield path
        return
    place = Path(os.path.realpath(path))  # a link stays one
    temporary = place.with_name(f".mbw-{uuid4().hex[:12]}.new")
    try:
        yield temporary
        if place.exists():
            temporary.chmod(stat.S_IMODE(place.stat().st_mode))
        os.replace(temporary, place)
    finally:
        temporary.unlink(missing_ok=True)


def _is_written_through(path: Path) -> bool:
    """Whether it is a device, a pipe or an open file of the shell's, which nothing can take the place of."""
    if os.path.abspath(path).startswith(("/dev/fd/", "/dev/std", "/proc/")):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _whole_text(chosen: str) -> Iterator[None]:
    """Write to standard output what its encoding lacks as it is or, for machines, not at all: people are shown an
    escape, which a program would take for text of the archive."""
    if chosen == "table":
        yield
        return
    errors = sys.stdout.errors
    _set_errors("strict")
    try:
        yield
    finally:
        _set_errors(errors)


def _set_errors(errors: str | None) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=errors)


def tell(remarks: Iterable[str]) -> None:
    """Tell people, below what they were shown, what they have to know of it."""
    sys.stdout.flush()
    for remark in remarks:
        print(remark, file=sys.stderr)


def _write(stream: TextIO, chosen: str, result: Result) -> Sequence[str]:
    """Write it; returns what people have to be told of it."""
    from pipelines import render

    style = result.style or render.Style()
    if chosen == "csv":
        render.write_csv(stream, result.columns, result.rows)
    elif chosen == "json":
        render.write_json(stream, result.columns, result.rows)
    elif chosen == "latex":
        render.write_latex(stream, result.columns, result.rows, style)
    elif chosen == "markdown":
        render.write_markdown(stream, result.columns, result.rows, style)
    else:
        remarks = render.write_text(stream, result.columns, result.rows, style)
        legend = [] if style.nothing else style.whole_legend(shows_bold=render.shows_bold(stream))
        return [*legend, *remarks, *([style.warning] if style.warning else [])]
    return [] if for_people(chosen) else result.remarks  # documents have the legend in them


def for_people(chosen: str) -> bool:
    """Whether a format is read by people, who then are told what to mind."""
    return chosen in ("table", "markdown", "latex")


def print_even_unread(text: str) -> None:
    """Print what a command found. That whoever read our output has gone changes nothing about what was found, which the
    exit status says too."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        let_go_of_stdout()


def let_go_of_stdout() -> None:
    """What is left in the buffer must not be written at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
