"""Writes a snapshot of a warehouse as a folder of its own, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from pipelines.archive.groups import GroupKey
from pipelines.archive.json_reader import dumps
from pipelines.client.reader import SnapshotReader
from pipelines.errors import MemoryBenchWarehouseError, UsageError
from pipelines.export.card import dataset_card
from pipelines.export.files import copy_partitions, exported_schema, table_rows, write_csv, write_parquet
from pipelines.export.layout import (
    CARD,
    CHECKSUMS,
    DATA,
    MANIFEST,
    PROMPTS,
    SCHEMA,
    ExportOptions,
    exported_tables,
    exported_views,
    schema_description,
)
from pipelines.load.assembly import result_group_rows
from pipelines.load.snapshots import DATABASE
from pipelines.load.views import list_views, quoted
from pipelines.places import has_working_directory, warehouse_around
from schemas import TABLES
from schemas.model import KEYS

Groups = list[tuple[GroupKey, str]]


def export_folder(warehouse: Path, target: Path, options: ExportOptions) -> dict[str, Any]:
    """Write the current snapshot of a warehouse to a folder that does not exist or is empty, filling one beside it
    first. Returns what snapshot.json says.

    Raises:
        UsageError: the folder has something in it, or lies inside of the warehouse.
        WarehouseError: there is no warehouse, or it was refreshed so often meanwhile that the snapshot is gone.
        MemoryBenchWarehouseError: the folder cannot be written; nothing of it is there.
    """
    target = target.expanduser().absolute()
    _require_free(target, warehouse)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(target.parent, f".{target.name}.") as folder:
            manifest = write_snapshot(warehouse, folder, options)
            folder.chmod(0o777 & ~_umask())
            os.sync()  # the files are on the disk before the folder has its name
            os.rename(folder, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MemoryBenchWarehouseError(f"{target} cannot be written: {reason}. Nothing was exported.") from error
    return manifest


def _require_free(target: Path, warehouse: Path) -> None:
    if target.resolve().is_relative_to(warehouse.expanduser().resolve()) or warehouse_around(target):
        raise UsageError(
            f"{target} lies inside of the warehouse, where a build would delete it. Choose another folder."
        )
    if target.is_dir() and not any(target.iterdir()):
        if has_working_directory(target):
            raise UsageError(f"{target} is to be replaced, and you are in it. Choose another folder.")
        return
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} is not an empty folder. Choose another, or delete it first.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def temporary_folder(parent: Path | None = None, prefix: str = "mbw-export-") -> Iterator[Path]:
    """A folder that is gone afterwards, unless it was renamed."""
    folder = Path(mkdtemp(prefix=prefix, dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_snapshot(warehouse: Path, folder: Path, options: ExportOptions) -> dict[str, Any]:
    """Fill an empty folder with an export; returns what snapshot.json says."""
    with SnapshotReader(warehouse) as reader:
        rows = result_group_rows(reader.snapshot.parquet)
        from_files = exported_tables(options) if options.format != "duckdb" else [TABLES[PROMPTS]] * options.prompts
        reader.require_files(table.name for table in from_files if table.grouped)
        keys = sorted(GroupKey(*(row[key] for key in KEYS)) for row in rows.values())
        groups: Groups = [(key, key.partition_path) for key in keys]
        tables = exported_tables(options)
        views = exported_views(list_views({key.baseline for key in keys}))
        if options.format == "duckdb":
            _write_database(reader, folder, options)
        else:
            _write_tables(reader, folder, options, groups)
        types = {view.name: _types(reader, view.name) for view in views}
        schema = schema_description(tables, views, types)
        manifest = {
            "source": reader.snapshot.info.source,
            "revision": reader.snapshot.info.revision,
            "refresh_id": reader.snapshot.info.refresh_id,
            "exported": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "program": f"memorybench-warehouse {version('memorybench-warehouse')}",
            "format": options.format,
            "partitioned": options.partitioned,
            "groups": len(groups),
            "rows": _counts(reader, schema),
        }
        reader.require_snapshot()
    (folder / SCHEMA).write_text(dumps(schema, indent=2) + "\n", encoding="utf-8")
    (folder / CARD).write_text(dataset_card(manifest, schema, options), encoding="utf-8")
    files = [_described(folder, path) for path in sorted(folder.rglob("*")) if path.is_file()]
    sums = "".join(f"{file['sha256']}  {file['path']}\n" for file in files)
    (folder / CHECKSUMS).write_text(sums, encoding="utf-8")
    manifest["files"] = files
    (folder / MANIFEST).write_text(dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return manifest


def _write_tables(reader: SnapshotReader, folder: Path, options: ExportOptions, groups: Groups) -> None:
    parquet = reader.snapshot.parquet
    for table in exported_tables(options):
        if options.partitioned:
            copy_partitions(parquet, table, folder / DATA, groups)
            continue
        rows = table_rows(parquet, table, groups)
        if options.format == "csv":
            write_csv(folder / DATA / table.name / f"{table.name}.csv", exported_schema(table), rows)
        else:
            write_parquet(folder / DATA / table.name, exported_schema(table), rows)
    for view in exported_views(list_views({key.baseline for key, _ in groups})):
        arrow = reader.arrow(f"FROM {quoted(view.name)} ORDER BY ALL")
        if options.format == "csv":
            write_csv(folder / DATA / view.name / f"{view.name}.csv", arrow.schema, [arrow])
        else:
            write_parquet(folder / DATA / view.name, arrow.schema, [arrow] if arrow.num_rows else [])


def _write_database(reader: SnapshotReader, folder: Path, options: ExportOptions) -> None:
    """The database as it is; with the prompts in it where they are asked for."""
    target = folder / DATABASE
    shutil.copyfile(reader.snapshot.database, target)
    if options.prompts and not reader.snapshot.info.embed_prompts:
        import duckdb

        from pipelines.load.database import create_table, fill_table

        with duckdb.connect(str(target)) as connection:
            create_table(connection, TABLES[PROMPTS])
            fill_table(connection, TABLES[PROMPTS], reader.snapshot.parquet)


def _types(reader: SnapshotReader, view: str) -> dict[str, str]:
    return {row[0]: row[1] for row in reader.rows(f"DESCRIBE {quoted(view)}")}


def _counts(reader: SnapshotReader, schema: dict[str, Any]) -> dict[str, int]:
    query = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {quoted(name)}" for name in schema)
    return dict(reader.rows(query))


def _described(folder: Path, path: Path) -> dict[str, Any]:
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"path": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size, "sha256": digest}
