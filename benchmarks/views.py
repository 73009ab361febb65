"""How long the standard views take on a warehouse, one collection at a time, and what `mbw table` takes as a process.

    python -m benchmarks.views WAREHOUSE [--rounds N]

Text columns are left out, and the connection is open and has answered before: what is measured is the query. Targets:
50 ms a view, 0.5 s for a process.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from pipelines.load.snapshots import DATABASE
from pipelines.load.views import list_views, literal, quoted

TARGET_MS = 50.0
#: Texts of samples; every other column is read.
TEXTS = ("response",)
#: Views that are not restricted by a collection: they have no such column.
TABLES = ("weighted_average", "memory_gain", "leaderboard", "collection_rankings", "results")


@dataclass(frozen=True)
class ViewTime:
    """The median of a view's slowest collection, and how many rows that has."""

    view: str
    milliseconds: float
    rows: int


def view_times(warehouse: Path, rounds: int) -> list[ViewTime]:
    """Measure every view."""
    times = []
    with duckdb.connect(str(warehouse / DATABASE), read_only=True) as connection:
        collections = connection.execute("SELECT DISTINCT split, collection FROM result_groups ORDER BY ALL").fetchall()
        for view in list_views():
            if "collection" in view.columns:
                wheres = [f"split = {literal(s)} AND collection = {literal(c)}" for s, c in collections]
            elif "split" in view.columns:
                wheres = [f"split = {literal(s)}" for s in sorted({s for s, _ in collections})]
            else:
                wheres = ["TRUE"]
            times.append(ViewTime(view.name, *max(_measure(connection, view.name, where, rounds) for where in wheres)))
    return times


def command_times(warehouse: Path, rounds: int) -> dict[str, float]:
    """Median seconds of `mbw table`, by the table's name."""
    return {
        name: statistics.median(
            _run([sys.executable, "-m", "pipelines.entry", "table", name, "--warehouse", str(warehouse)])
            for _ in range(rounds)
        )
        for name in TABLES
    }


def help_time(rounds: int) -> float:
    """Median seconds of `mbw --help`."""
    return statistics.median(_run([sys.executable, "-m", "pipelines.entry", "--help"]) for _ in range(rounds))


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each view: the median over rounds of its slowest collection."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.views", description=__doc__.splitlines()[0])
    parser.add_argument("warehouse", type=Path)
    parser.add_argument("--rounds", type=int, default=5, help="how often each query runs")
    args = parser.parse_args(argv)
    for time_ in view_times(args.warehouse, args.rounds):
        mark = "" if time_.milliseconds <= TARGET_MS else f"  above {TARGET_MS:.0f} ms"
        print(f"{time_.view:<32} {time_.milliseconds:8.1f} ms {time_.rows:8d} rows{mark}")
    for name, seconds in command_times(args.warehouse, args.rounds).items():
        print(f"mbw table {name:<22} {seconds * 1000:8.0f} ms")


def _measure(connection: duckdb.DuckDBPyConnection, view: str, where: str, rounds: int) -> tuple[float, int]:
    """Median milliseconds to run the query and fetch its rows as Arrow, and how many those are."""
    columns = [c[0] for c in connection.execute(f"SELECT * FROM {quoted(view)} LIMIT 0").description]
    shown = ", ".join(quoted(column) for column in columns if column not in TEXTS)
    query = f"SELECT {shown} FROM {quoted(view)} WHERE {where}"
    seconds = []
    rows = 0
    for number in range(rounds + 1):
        started = time.perf_counter()
        rows = connection.sql(query).to_arrow_table().num_rows
        if number:  # the first run warms up
            seconds.append(time.perf_counter() - started)
    return statistics.median(seconds) * 1000, rows


def _run(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
