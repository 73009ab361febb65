"""What a warehouse holds, to compare two of them: rows of tables, and the files behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from schemas import TABLES

#: Tables that say what happened to a warehouse, not what it holds.
HISTORY = ("refreshes", "published_history")


def content(warehouse: Path, *, without: tuple[str, ...] = HISTORY) -> dict[str, list[Any]]:
    """Every row of every table, provenance apart. NaN stands as text, so that it equals itself."""
    rows = {}
    with duckdb.connect(str(warehouse / "memorybench.duckdb"), read_only=True) as connection:
        for table in TABLES.values():
            if table.in_database and table.name not in without:
                columns = ", ".join(f'"{c.name}"' for c in table.database_columns if not c.provenance) or "count(*)"
                found = connection.execute(f'SELECT {columns} FROM "{table.name}" ORDER BY ALL').fetchall()
                rows[table.name] = [tuple("NaN" if value != value else value for value in row) for row in found]
    return rows


def partitions(warehouse: Path) -> dict[str, Path]:
    """The Parquet files of groups, by table and keys."""
    parquet = warehouse / "parquet"
    return {str(path.relative_to(parquet)): path for path in sorted(parquet.glob("*/*/*/*/*/*/*.parquet"))}


def inodes(warehouse: Path) -> dict[str, int]:
    """Which file each partition is: another one wherever it was written anew."""
    return {name: path.stat().st_ino for name, path in partitions(warehouse).items()}
