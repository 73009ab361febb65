"""Writes the rows of one table or view into one or more files of an export."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.archive.json_reader import dumps
from pipelines.load.partitions import COMPRESSION, COMPRESSION_LEVEL, LOW_CARDINALITY, partition_file, single_file
from schemas.model import KEYS, Table

#: A row group is full at either of these; see docs/parquet-layout.md.
ROW_GROUP_ROWS = 100_000
ROW_GROUP_BYTES = 32 << 20
#: From this size on (before compression) a table goes on in another file, so that several readers can share it.
FILE_BYTES = 1 << 30


def exported_schema(table: Table) -> pa.Schema:
    """The table's columns with the keys of a grouped table in front."""
    keys = [pa.field(key, pa.string(), nullable=False) for key in KEYS] if table.grouped else []
    return pa.schema([*keys, *table.arrow_schema()])


def table_rows(parquet_dir: Path, table: Table, groups: Iterable[tuple[tuple[str, ...], str]]) -> Iterator[pa.Table]:
    """A table's rows bit by bit, keys included. `groups` are keys and partition path of each group, in order."""
    schema = exported_schema(table)
    if not table.grouped:
        yield from _read(single_file(parquet_dir, table.name), schema)
        return
    for keys, partition_path in groups:
        path = partition_file(parquet_dir, table.name, partition_path)
        if path.exists():
            for rows in _read(path, table.arrow_schema()):
                columns = [pa.repeat(pa.scalar(key, pa.string()), rows.num_rows) for key in keys]
                yield pa.Table.from_arrays([*columns, *rows.columns], schema=schema)


def _read(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    if not path.exists():  # a snapshot that is older than the table
        return
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group).cast(schema)


def write_parquet(folder: Path, schema: pa.Schema, rows: Iterable[pa.Table]) -> int:
    """Write rows as `part-00000.parquet` and so on; returns how many there were."""
    folder.mkdir(parents=True)
    total, number, in_file = 0, 0, 0
    writer: pq.ParquetWriter | None = None
    try:
        for group in _row_groups(rows):
            if writer is not None and in_file >= FILE_BYTES:
                writer.close()
                writer, in_file, number = None, 0, number + 1
            if writer is None:
                writer = _writer(folder / f"part-{number:05d}.parquet", schema)
            writer.write_table(group, row_group_size=max(1, group.num_rows))
            total += group.num_rows
            in_file += group.nbytes
        if writer is None:
            writer = _writer(folder / "part-00000.parquet", schema)
    finally:
        if writer is not None:
            writer.close()
    return total


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    repeated = [f.name for f in schema if f.name in LOW_CARDINALITY or f.name in KEYS]
    if "messages" in schema.names:
        repeated.append("messages.list.element.role")
    return pq.ParquetWriter(
        path, schema, compression=COMPRESSION, compression_level=COMPRESSION_LEVEL, use_dictionary=repeated
    )


def _row_groups(rows: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in pieces of the size of a row group."""
    held: list[pa.Table] = []
    n_rows = n_bytes = 0
    for piece in rows:
        held.append(piece)
        n_rows += piece.num_rows
        n_bytes += piece.nbytes
        if n_rows >= ROW_GROUP_ROWS or n_bytes >= ROW_GROUP_BYTES:
            yield pa.concat_tables(held)
            held, n_rows, n_bytes = [], 0, 0
    if n_rows:
        yield pa.concat_tables(held)


def write_csv(path: Path, schema: pa.Schema, rows: Iterable[pa.Table]) -> int:
    """Write rows as CSV with a header (RFC 4180, UTF-8): NULL is nothing, an empty text is "", a list is JSON text.
    Returns how many there were."""
    import pyarrow.csv as csv

    path.parent.mkdir(parents=True)
    flat = pa.schema([pa.field(f.name, pa.string() if pa.types.is_nested(f.type) else f.type) for f in schema])
    total = 0
    with csv.CSVWriter(path, flat) as writer:
        for piece in rows:
            columns = [_flat(piece.column(field.name)) for field in schema]
            writer.write_table(pa.Table.from_arrays(columns, schema=flat))
            total += piece.num_rows
    return total


def _flat(column: pa.ChunkedArray) -> Any:
    if not pa.types.is_nested(column.type):
        return column
    return pa.array([None if value is None else dumps(value) for value in column.to_pylist()], pa.string())


def copy_partitions(parquet_dir: Path, table: Table, folder: Path, groups: Iterable[tuple[Any, str]]) -> int:
    """Copy a table's files as they are, below a folder of its name; returns how many rows they hold."""
    paths = [partition_file(Path(), table.name, path) for _, path in groups] if table.grouped else []
    total = 0
    for path in paths or [single_file(Path(), table.name)]:
        source, target = parquet_dir / path, folder / path
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            total += pq.read_metadata(target).num_rows
    return total
