"""Writes one group's rows as Parquet partitions, one file for each table.

The bytes depend on the rows alone, so that two builds of one content give the same files. What a failed group wrote is
deleted again: no part of a bad group ever stays.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from schemas import TABLES
from schemas.model import Table

PART = "part-0.parquet"
COMPRESSION = "zstd"
#: On long repetitive text level 3 gives less than half the size of level 1 at the same speed.
COMPRESSION_LEVEL = 3

#: Text columns whose values repeat within a group; the others are stored plain, which saves building a dictionary that
#: would be given up.
LOW_CARDINALITY = {
    "group_id",
    "protocol",
    "dataset",
    "dataset_group",
    "metric",
    "name",
    "kind",
    "origin",
    "source_file",
}


def partition_file(parquet_dir: Path, table: str, partition_path: str) -> Path:
    """Where the rows of a group stand in a table's folder."""
    return parquet_dir / table / partition_path / PART


def single_file(parquet_dir: Path, table: str) -> Path:
    """Where the rows of a table that is one file stand."""
    return parquet_dir / table / PART


class PartitionWriter:
    """Takes rows of any grouped table and writes them below `parquet_dir`. A context manager: leaving it with an
    error deletes whatever was written."""

    def __init__(self, parquet_dir: Path, partition_path: str) -> None:
        self._parquet_dir = parquet_dir
        self._partition_path = partition_path
        self._writers: dict[str, pq.ParquetWriter] = {}
        self.rows: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for writer in self._writers.values():
            writer.close()
        if error is not None:
            for table in self._writers:
                self._file(table).unlink(missing_ok=True)

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Append rows; each call makes a row group. A batch without rows still makes the table's file."""
        writer = self._writers.get(table)
        if writer is None:
            writer = self._writers[table] = _open(self._file(table), TABLES[table])
        if batch.num_rows:
            writer.write_batch(batch, row_group_size=batch.num_rows)
        self.rows[table] = self.rows.get(table, 0) + batch.num_rows

    def _file(self, table: str) -> Path:
        return partition_file(self._parquet_dir, table, self._partition_path)


def _open(path: Path, table: Table) -> pq.ParquetWriter:
    path.parent.mkdir(parents=True, exist_ok=True)
    return pq.ParquetWriter(
        path,
        table.arrow_schema(),
        compression=COMPRESSION,
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=_dictionary_columns(table),
        write_statistics=[c.name for c in table if not c.long_text],
    )


def _dictionary_columns(table: Table) -> list[str]:
    columns = [c.name for c in table if c.name in LOW_CARDINALITY]
    if "messages" in table.column_names:
        columns.append("messages.list.element.role")
    return columns


def read_partition(parquet_dir: Path, table: Table, partition_path: str) -> pa.Table:
    """Read the rows of one group in a table; none where the group has no file there."""
    return _rows(partition_file(parquet_dir, table.name, partition_path), table)


def write_single(parquet_dir: Path, table: Table, rows: pa.Table) -> None:
    """Write a table that is one file."""
    path = single_file(parquet_dir, table.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        rows,
        path,
        compression=COMPRESSION,
        compression_level=COMPRESSION_LEVEL,
    )


def read_single(parquet_dir: Path, table: Table) -> pa.Table:
    """Read a table that is one file; without rows where the snapshot is older than the table."""
    return _rows(single_file(parquet_dir, table.name), table)


def _rows(path: Path, table: Table) -> pa.Table:
    try:
        with pq.ParquetFile(path) as file:  # read_table would import pandas, 0.4 s
            return file.read()
    except FileNotFoundError:
        return table.arrow_schema().empty_table()
