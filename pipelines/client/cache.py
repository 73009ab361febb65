"""Warehouses that the client builds for itself, one for each address, brought up to date whenever asked for."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from pipelines.config import BuildOptions
from pipelines.errors import WarehouseLocked

FOLDER = "memorybench-warehouse"
#: How long to wait for another process that is building the same cached warehouse.
LOCK_WAIT_SECONDS = 600.0
_POLL_SECONDS = 0.2


def cache_folder(cache_dir: Path | str | None = None) -> Path:
    """Where cached warehouses stand: `cache_dir`, or XDG_CACHE_HOME or ~/.cache with a folder of ours in it."""
    if cache_dir is not None:
        return Path(cache_dir).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / FOLDER


def refreshed_warehouse(address: str, cache_dir: Path | str | None = None) -> Path:
    """The cached warehouse of the archive at `address`, after bringing it up to date.

    Reads in this process alone: worker processes would run the caller's own script again.

    Raises:
        SourceError: there is no archive at the address, or it cannot be reached.
        WarehouseLocked: another process has been building it for longer than one waits.
    """
    from pipelines.archive.sources import open_source
    from pipelines.load.snapshots import Warehouse
    from pipelines.refresh import refresh

    root = cache_folder(cache_dir) / hashlib.sha256(address.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    with open_source(address) as source:
        while True:
            try:
                refresh(source, Warehouse(root), BuildOptions(jobs=1))
                return root
            except WarehouseLocked:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_SECONDS)
