"""The peer of a build: DuckDB's own COPY of every predict.json to partitioned, compressed Parquet.

python -m benchmarks.duckdb_copy ARCHIVE OUTPUT
"""

from __future__ import annotations

import sys

import duckdb

_KEYS = ("backbone", "split", "collection", "baseline")


def copy(archive: str, output: str) -> None:
    """Copy the predictions alone; no other file, no check, no database."""
    depth = len(archive.rstrip("/").split("/"))
    keys = ", ".join(f"split_part(filename, '/', {depth + place}) AS {key}" for place, key in enumerate(_KEYS, start=1))
    source = (
        f"read_json('{archive.rstrip('/')}/*/*/*/*/predict.json', filename = true, maximum_object_size = 400000000)"
    )
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(
            f"COPY (SELECT *, {keys} FROM {source}) TO '{output}' "
            f"(FORMAT parquet, COMPRESSION zstd, PARTITION_BY ({', '.join(_KEYS)}))"
        )


if __name__ == "__main__":
    copy(*sys.argv[1:3])
