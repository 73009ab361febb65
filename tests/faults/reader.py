"""Reads a warehouse over and over while others refresh it, and stops at the first answer that is not whole.

    python -m tests.faults.reader WAREHOUSE STOP_FILE KIND

Every version of the archive has one number in all responses, so an answer that holds two is a mixture. KIND: database
(a new connection each time), client (the Python client), parquet (the files of the snapshot that `current` leads to),
held (one connection from the beginning, which must never see another version).
Prints how often it read and which versions it saw, as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

QUERY = "SELECT DISTINCT response FROM {predictions}"
ROWS = "SELECT count(*) FROM {predictions}"


def version(answers: list[tuple[str]], rows: int) -> int:
    """The one version that all rows are of."""
    numbers = {int(re.fullmatch(r"Answer (\d+)\.", text)[1]) for (text,) in answers}  # type: ignore[index]
    if len(numbers) != 1 or rows != 6:
        raise SystemExit(f"a mixture: {sorted(numbers)}, {rows} rows")
    return numbers.pop()


def read(connection: duckdb.DuckDBPyConnection, predictions: str) -> int:
    answers = connection.execute(QUERY.format(predictions=predictions)).fetchall()
    rows = connection.execute(ROWS.format(predictions=predictions)).fetchone()
    assert rows is not None
    return version(answers, rows[0])


def database(warehouse: Path) -> int:
    with duckdb.connect(str(warehouse / "memorybench.duckdb"), read_only=True) as connection:
        seen = read(connection, "predictions")
        refreshes = connection.execute("SELECT max(refresh_id) FROM refreshes").fetchone()
        if refreshes != (seen + 1,):
            raise SystemExit(f"version {seen} says that it is of refresh {refreshes}")
        return seen


def client(warehouse: Path) -> int:
    from pipelines.client import MemoryBenchResults

    results = MemoryBenchResults.from_warehouse(warehouse)
    rows = results.arrow("predictions")["response"].to_pylist()
    prompts = results.sql("SELECT test_idx FROM prompts")
    if len(prompts) != 6:
        raise SystemExit(f"prompts of another version: {len(prompts)}")
    return version([(text,) for text in set(rows)], len(rows))


def parquet(warehouse: Path) -> int:
    snapshot = os.path.realpath(warehouse / "current")
    with duckdb.connect() as connection:
        return read(connection, f"read_parquet('{snapshot}/parquet/predictions/**/*.parquet')")


def main() -> None:
    warehouse, stop, kind = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    once: Callable[[Path], int]
    if kind == "held":
        connection = duckdb.connect(str(warehouse / "memorybench.duckdb"), read_only=True)

        def once(_: Path) -> int:
            return read(connection, "predictions")
    else:
        once = {"database": database, "client": client, "parquet": parquet}[kind]
    seen: list[int] = []
    reads = 0
    parent = os.getppid()
    while True:
        last = stop.exists() or os.getppid() != parent  # whoever started us is gone
        number = once(warehouse)
        reads += 1
        if seen and number < seen[-1]:
            raise SystemExit(f"went back from version {seen[-1]} to {number}")
        if not seen or number != seen[-1]:
            seen.append(number)
        if last:
            break
        time.sleep(0.05)
    print(json.dumps({"reads": reads, "seen": seen}))


if __name__ == "__main__":
    main()
