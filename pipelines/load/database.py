"""Builds the DuckDB file of a snapshot from its Parquet files: tables, comments, macros, views.

The file is always made anew and never changed in place, because readers may hold the old one open. It is written in
the storage format of DuckDB 1.2, which every newer version reads.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pipelines.load.connection import CATALOG, connect, with_enough_memory
from pipelines.load.history import PUBLISHED_HISTORY, HistoryUpdate, write_history
from pipelines.load.partitions import PART
from pipelines.load.statistics import STATISTICS, write_statistics
from pipelines.load.views import create_views, literal, quoted
from schemas import TABLES
from schemas.model import DUCKDB_TYPES, KEYS, Column, Table

STORAGE_VERSION = "v1.2.0"


@contextmanager
def storage_errors() -> Iterator[None]:
    """Raise DuckDB's words for files that cannot be written as the OSError that they are."""
    try:
        yield
    except duckdb.Error as error:
        text = str(error)
        if os.strerror(errno.ENOSPC) in text:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        if isinstance(error, duckdb.IOException) or "Could not write file" in text:
            raise OSError(errno.EIO, text) from error
        raise


@storage_errors()
def build_database(
    path: Path,
    parquet_dir: Path,
    *,
    embed_prompts: bool = False,
    previous: Path | None = None,
    history: HistoryUpdate | None = None,
) -> list[str]:
    """Make the database file at `path` from the Parquet files of one snapshot; returns the names of the views.

    The tables of statistics are computed here and written to Parquet too, because the views define what they rest on.
    `previous` is the Parquet folder of a snapshot whose statistics are taken over where their inputs are the same,
    `history` the refresh that published_history takes note of.

    Raises:
        OSError: the file cannot be written.
        WarehouseError: it takes more memory than DuckDB is ever given.
    """
    return with_enough_memory(lambda limit: _build(path, parquet_dir, embed_prompts, previous, history, limit))


def _build(
    path: Path,
    parquet_dir: Path,
    embed_prompts: bool,
    previous: Path | None,
    history: HistoryUpdate | None,
    memory_limit: int,
) -> list[str]:
    path.unlink(missing_ok=True)  # what an attempt with less memory left
    computed = (*STATISTICS, PUBLISHED_HISTORY)
    with connect(path.with_suffix(".tmp"), memory_limit) as connection:
        connection.execute(f"ATTACH {literal(str(path))} AS {CATALOG} (STORAGE_VERSION {literal(STORAGE_VERSION)})")
        connection.execute(f"USE {CATALOG}")
        connection.execute("BEGIN")  # one transaction: each one's end waits for the disk
        for table in TABLES.values():
            if table.in_database or embed_prompts:
                create_table(connection, table)
                if table not in computed:
                    fill_table(connection, table, parquet_dir)
        views = create_views(connection)
        write_statistics(connection, parquet_dir, previous)
        if history is not None:
            write_history(connection, parquet_dir, history)
        for table in computed:
            fill_table(connection, table, parquet_dir)
        connection.execute("COMMIT")
        connection.execute("USE memory")
        connection.execute(f"DETACH {CATALOG}")
    return views


def create_table(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    """Create the table with its comments, in the connection's current schema."""
    columns = ", ".join(_definition(column) for column in table.database_columns)
    connection.execute(f"CREATE TABLE {quoted(table.name)} ({columns})")
    connection.execute(f"COMMENT ON TABLE {quoted(table.name)} IS {literal(f'{table.meaning} Grain: {table.grain}.')}")
    for column in table.database_columns:
        target = f"{quoted(table.name)}.{quoted(column.name)}"
        connection.execute(f"COMMENT ON COLUMN {target} IS {literal(column.meaning)}")


def _definition(column: Column) -> str:
    parts = [quoted(column.name), DUCKDB_TYPES[column.kind]]
    if not column.nullable:
        parts.append("NOT NULL")
    if column.long_text and column.kind in ("text", "json"):
        parts.append("USING COMPRESSION zstd")  # half the size of the default on long text
    return " ".join(parts)


def fill_table(connection: duckdb.DuckDBPyConnection, table: Table, parquet_dir: Path) -> None:
    """Insert all rows of the table's Parquet files, in the order of their paths; none where there are no files."""
    pattern = "/".join([table.name, *("*" for _ in KEYS if table.grouped), PART])
    if next(parquet_dir.glob(pattern), None) is None:
        return
    columns = ", ".join(quoted(column.name) for column in table.database_columns)
    options = "hive_partitioning = true, hive_types_autocast = false" if table.grouped else "hive_partitioning = false"
    source = f"read_parquet({literal(f'{parquet_dir}/{pattern}')}, {options})"
    connection.execute(f"INSERT INTO {quoted(table.name)} SELECT {columns} FROM {source}")
