"""Snapshots: each publication is a whole folder, and publishing is one rename of a link.

    warehouse/
        current -> snapshots/000007
        memorybench.duckdb -> current/memorybench.duckdb
        parquet -> current/parquet
        quality -> current/quality
        snapshots/000006/  snapshots/000007/   {memorybench.duckdb, parquet/, quality/, snapshot.json}

A reader sees the old warehouse or the new one, whole. Files that did not change are hard links to the last snapshot's.
A folder whose name ends in .partial was never published; the next build deletes it. Where `current` is lost, the next
build publishes the newest snapshot again. Nothing is deleted that this program did not write.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipelines.archive.json_reader import dumps, loads
from pipelines.errors import BadRecord, WarehouseError

DATABASE = "memorybench.duckdb"
PARQUET = "parquet"
QUALITY = "quality"
_PUBLISHED = (DATABASE, PARQUET, QUALITY)
_CURRENT = "current"
_INFO = "snapshot.json"
#: What `signatures` remembers of the source's files, in the warehouse's folder.
SIGNATURES = ".signatures.json"
_PARTIAL = ".partial"
_SNAPSHOT_NAME = re.compile(rf"\d+({re.escape(_PARTIAL)})?", re.ASCII)
#: DuckDB takes a path with one of these for a pattern, or what follows for an option.
_NOT_IN_PATHS = "*?["

#: Changes whenever the same input would give other tables; then everything is read again.
FORMAT = 6
#: How many published snapshots are kept, the current one included.
KEPT_SNAPSHOTS = 2


@dataclass(frozen=True)
class SnapshotInfo:
    """snapshot.json: what a snapshot was made from."""

    format: int
    refresh_id: int
    source: str
    revision: str
    embed_prompts: bool


@dataclass(frozen=True)
class Snapshot:
    """A published snapshot."""

    path: Path
    info: SnapshotInfo

    @property
    def parquet(self) -> Path:
        return self.path / PARQUET

    @property
    def database(self) -> Path:
        return self.path / DATABASE


class Warehouse:
    """The folder that users open."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).expanduser().absolute()

    @property
    def database(self) -> Path:
        return self.root / DATABASE

    @property
    def parquet(self) -> Path:
        return self.root / PARQUET

    def create(self) -> None:
        """Make the folder.

        Raises:
            WarehouseError: it cannot be made, or holds something that is not a warehouse.
        """
        if strange := sorted(set(_NOT_IN_PATHS) & set(str(self.root))):
            raise WarehouseError(
                f"{self.root} cannot be a warehouse: DuckDB takes {' and '.join(strange)} in a path for a pattern. "
                "Choose another with --warehouse."
            )
        try:
            self._snapshots.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WarehouseError(
                f"{self.root} cannot be made: {error.strerror}. Choose another with --warehouse."
            ) from error
        ours = [self.root / name for name in (*_PUBLISHED, _CURRENT)]
        in_the_way = [path for path in ours if os.path.lexists(path) and not path.is_symlink()]
        if self._snapshots.is_symlink():
            in_the_way.append(self._snapshots)
        else:
            in_the_way += [path for path in self._snapshots.iterdir() if not _SNAPSHOT_NAME.fullmatch(path.name)]
        if in_the_way:
            raise WarehouseError(
                f"{in_the_way[0]} is in the way and was not made by this program. Move it, or choose another "
                "--warehouse."
            )

    def current(self) -> Snapshot | None:
        """The published snapshot, or None where nothing was published yet."""
        try:
            path = self._snapshots / Path(os.readlink(self.root / _CURRENT)).name
        except FileNotFoundError:
            return None
        try:
            info = loads((path / _INFO).read_bytes())
            return Snapshot(path, SnapshotInfo(**info))
        except (OSError, BadRecord, TypeError) as error:
            raise WarehouseError(
                f"{path} is not a snapshot of this program: {error}. Move or delete {self.root / _CURRENT}, "
                "and the next build goes on from the newest snapshot that is whole."
            ) from error

    def require_current(self) -> Snapshot:
        """The published snapshot.

        Raises:
            WarehouseError: nothing was published yet.
        """
        snapshot = self.current()
        if snapshot is None:
            raise WarehouseError(
                f"There is no warehouse at {self.root}. Make one with: mbw build --warehouse {self.root}"
            )
        return snapshot

    def is_published(self) -> bool:
        """Whether something was published here, readable or not."""
        return os.path.islink(self.root / _CURRENT) and os.path.isdir(self._snapshots)

    @property
    def _snapshots(self) -> Path:
        return self.root / "snapshots"

    def begin(self) -> Path:
        """A new empty folder to fill; whatever an interrupted build left is deleted first. Needs the lock."""
        self.clean()
        current = self.current()
        number = int(current.path.name) + 1 if current else 1
        partial = self._snapshots / f"{number:06d}{_PARTIAL}"
        (partial / PARQUET).mkdir(parents=True)
        return partial

    def clean(self) -> None:
        """Delete what a build left that was interrupted or failed: folders that were never published, and files that
        never took the place of another. Needs the lock."""
        published = self.published()
        for path in self._snapshots.iterdir():
            if published is None or not path.name.isdigit() or path.name > published:
                shutil.rmtree(path)
        for name in (*_PUBLISHED, _CURRENT, SIGNATURES):
            unfinished(self.root / name).unlink(missing_ok=True)

    def adopt(self) -> None:
        """Publish the newest whole snapshot where the link to the published one is lost, so that nothing that was good
        is. Needs the lock."""
        published = self.published()
        if published is not None and (self._snapshots / published).is_dir():
            return
        for path in sorted((path for path in self._snapshots.iterdir() if path.name.isdigit()), reverse=True):
            if all((path / name).exists() for name in (_INFO, DATABASE, PARQUET)):
                self._link(path.name)
                return

    def published(self) -> str | None:
        """The name of the published snapshot, whatever is in it; None where nothing was published."""
        try:
            return Path(os.readlink(self.root / _CURRENT)).name
        except (FileNotFoundError, NotADirectoryError):
            return None

    def publish(self, partial: Path, info: SnapshotInfo) -> Snapshot:
        """Make a filled folder the current snapshot. Needs the lock."""
        (partial / _INFO).write_text(dumps(asdict(info), indent=4) + "\n", encoding="utf-8")
        os.sync()  # every file is on the disk before the link is swapped: a power cut leaves old or new, not half
        path = partial.with_name(partial.name.removesuffix(_PARTIAL))
        os.rename(partial, path)
        self._link(path.name)
        return Snapshot(path, info)

    def _link(self, snapshot: str) -> None:
        for name in _PUBLISHED:
            _replace_link(self.root / name, f"{_CURRENT}/{name}")
        _replace_link(self.root / _CURRENT, f"snapshots/{snapshot}")
        _sync(self.root)

    def prune(self) -> None:
        """Delete the oldest snapshots. Needs the lock."""
        for old in sorted(self._snapshots.iterdir())[:-KEPT_SNAPSHOTS]:
            shutil.rmtree(old)


def link_file(source: Path, target: Path) -> None:
    """Make `target` the same file as `source`; a copy where the file system knows no hard links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def unfinished(path: Path) -> Path:
    """The name under which a file is written that then takes the place of `path`."""
    return path.with_name(f".{path.name.removeprefix('.')}.new")


def _replace_link(link: Path, target: str) -> None:
    if link.is_symlink() and os.readlink(link) == target:
        return
    temporary = unfinished(link)
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    os.replace(temporary, link)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def snapshot_size(path: Path) -> dict[str, Any]:
    """Bytes of the database and of each Parquet table, for status."""
    parquet = {
        table.name: sum(
            os.stat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(table) for name in names
        )
        for table in sorted((path / PARQUET).iterdir())
    }
    return {"database": (path / DATABASE).stat().st_size, "parquet": parquet}
