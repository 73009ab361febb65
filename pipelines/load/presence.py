"""Whether the Parquet files of a snapshot are all there: a deleted one would pass for a group without rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.archive.groups import GroupKey
from pipelines.load.partitions import partition_file
from pipelines.load.views import quoted
from schemas import TABLES
from schemas.model import KEYS

if TYPE_CHECKING:
    import duckdb

GROUPED = tuple(table.name for table in TABLES.values() if table.grouped)


def missing_files(
    connection: duckdb.DuckDBPyConnection, parquet_dir: Path, tables: Iterable[str] = GROUPED
) -> Iterator[tuple[str, Path]]:
    """The group and the path of each file that is not below `parquet_dir`, although the connection's default database
    has rows of that group in the table; of `prompts`, which it has not, as many as of predictions."""
    keys = ", ".join(map(quoted, KEYS))
    paths = {
        group_id: GroupKey(*key).partition_path
        for group_id, *key in connection.execute(f"SELECT group_id, {keys} FROM result_groups").fetchall()
    }
    for name in tables:
        stored = name if TABLES[name].in_database else "predictions"
        for (group_id,) in connection.execute(f"SELECT DISTINCT group_id FROM {quoted(stored)} ORDER BY 1").fetchall():
            path = partition_file(parquet_dir, name, paths[group_id])
            if not path.exists():
                yield group_id, path
