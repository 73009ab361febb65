"""Warehouses that several test files ask for, each built once in a session and never changed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.archive.local import LocalSource
from pipelines.config import BuildOptions, default_jobs
from pipelines.load.snapshots import Warehouse
from pipelines.refresh import refresh

_built: dict[Path, TemporaryDirectory[str]] = {}


def warehouse_of(archive: Path) -> Path:
    """The warehouse of an archive that no test changes."""
    if archive not in _built:
        folder = TemporaryDirectory(prefix="warehouse-")
        refresh(LocalSource(archive), Warehouse(folder.name), BuildOptions(jobs=default_jobs()))
        _built[archive] = folder
    return Path(_built[archive].name)
