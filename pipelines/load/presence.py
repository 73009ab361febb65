"""Whether the Parquet files of a snapshot are all there: a deleted one would pass for a group without rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.archive.groups import GroupKey
from pipelines.errors import WarehouseError
from pipelines.load.connection import opened_database
from pipelines.load.partitions import partition_file
from pipelines.load.snapshots import Snapshot
from pipelines.load.views import quoted
from schemas import TABLES
from schemas.model import KEYS

if TYPE_CHECKING:
    import duckdb

GROUPED = tuple(table.name for table in TABLES.values() if table.grouped)


def missing_files(
    connection: duckdb.DuckDBPyConnection,
    parquet_dir: Path,
    tables: Iterable[str] = GROUPED,
    partition_path: str | None = None,
) -> Iterator[tuple[str, Path]]:
    """The group and the path of each file that is not below `parquet_dir`, although the connection's default database
    has rows of that group in the table; of `prompts`, which it has not, as many as of predictions. With
    `partition_path`, that group's alone."""
    keys = ", ".join(map(quoted, KEYS))
    paths = {
        group_id: GroupKey(*key).partition_path
        for group_id, *key in connection.execute(f"SELECT group_id, {keys} FROM result_groups").fetchall()
    }
    for name in tables:
        stored = name if TABLES[name].in_database else "predictions"
        for (group_id,) in connection.execute(f"SELECT DISTINCT group_id FROM {quoted(stored)} ORDER BY 1").fetchall():
            path = partition_file(parquet_dir, name, paths[group_id])
            if partition_path in (None, paths[group_id]) and not path.exists():
                yield group_id, path


def incomplete_groups(snapshot: Snapshot) -> set[str]:
    """The groups of which files are missing.

    Raises:
        WarehouseError: the database, which tells which there have to be, cannot be opened.
    """
    import duckdb

    try:
        with opened_database(snapshot.database, read_only=True) as connection:
            return {group_id for group_id, _ in missing_files(connection, snapshot.parquet)}
    except (OSError, duckdb.Error) as error:
        raise WarehouseError(f"{snapshot.database} cannot be opened: {error}. Build it again with --full.") from error
