"""Whether the files of a group come back from its rows equal to what was published.

Proof needs no source where the rebuilt text has the published file's digest: the publisher writes with Python's `json`
and four spaces, so its bytes can be written again. Where a file is laid out otherwise, the source decides if it is at
hand and unchanged; else it cannot be said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from pipelines.archive.groups import GROUP_FILES, GroupKey
from pipelines.archive.json_equality import same_json
from pipelines.archive.json_reader import dumps, loads
from pipelines.errors import BadRecord
from pipelines.load.partitions import read_partition
from pipelines.load.workers import WorkerPool
from pipelines.normalize.restore import restore_file
from schemas import TABLES
from schemas.model import KEYS

Outcome = Literal["passed", "failed", "cannot be checked"]
_SOURCE_FILE_TABLES = ("evaluations", "summary_metrics", "summary_datasets")


@dataclass(frozen=True)
class FileOutcome:
    """How one file came back; `message` says why where it did not, or why that cannot be said."""

    group_id: str
    file: str
    outcome: Outcome
    message: str = ""


@dataclass(frozen=True)
class GroupTask:
    """A group to rebuild: its row of result_groups, and where its files lie, as far as the source is at hand."""

    parquet_dir: Path
    row: dict[str, Any]
    paths: dict[str, Path]


def check_groups(tasks: Iterable[GroupTask], jobs: int) -> Iterator[list[FileOutcome]]:
    """Rebuild each group, in parallel where there are several.

    Raises:
        MemoryBenchWarehouseError: a worker process died.
    """
    tasks = list(tasks)
    if jobs <= 1 or len(tasks) <= 1:
        yield from map(check_group, tasks)
        return
    with WorkerPool(jobs, "Verify again.") as pool:
        checked = [pool.submit(check_group, task) for task in tasks]
        yield from (future.result() for future in checked)


def check_group(task: GroupTask) -> list[FileOutcome]:
    """Rebuild every file of a group that was loaded."""
    group = _Group(task)
    return [group.check(file["name"], file["digest"]) for file in group.loaded_files()]


class _Group:
    def __init__(self, task: GroupTask) -> None:
        self.task = task
        self.group_id: str = task.row["group_id"]
        self._partition = GroupKey(*(task.row[key] for key in KEYS)).partition_path
        self.table = cache(self._read)

    def _read(self, table: str) -> pa.Table:
        return read_partition(self.task.parquet_dir, TABLES[table], self._partition)

    def loaded_files(self) -> list[dict[str, Any]]:
        files: list[dict[str, Any]] = loads(self.task.row["files"].encode())
        others = [file for file in files if file["name"] not in GROUP_FILES]
        if others:
            loaded: set[str] = set()
            for table in _SOURCE_FILE_TABLES:
                loaded.update(self.table(table).column("source_file").unique().to_pylist())
            files = [file for file in files if file["name"] in GROUP_FILES or file["name"] in loaded]
        return files

    def check(self, name: str, digest: str | None) -> FileOutcome:
        place = f"{self.task.row['relative_dir']}/{name}"
        try:
            content = restore_file(name, self.table, self.task.row["residue"])
        except (BadRecord, OSError, pa.ArrowException, ValueError, LookupError, TypeError) as error:
            return FileOutcome(self.group_id, place, "failed", f"it cannot be rebuilt from the tables: {error}")
        if any(hashlib.sha256(text).hexdigest() == digest for text in _as_published(content)):
            return FileOutcome(self.group_id, place, "passed")
        path = self.task.paths.get(name)
        if path is None:
            return FileOutcome(
                self.group_id, place, "cannot be checked", "its layout is not the publisher's, and no source is at hand"
            )
        return self._against_source(place, content, path, digest)

    def _against_source(self, place: str, content: Any, path: Path, digest: str | None) -> FileOutcome:
        try:
            data = path.read_bytes()
        except OSError as error:
            message = f"the source cannot be read: {error.strerror}"
            return FileOutcome(self.group_id, place, "cannot be checked", message)
        if hashlib.sha256(data).hexdigest() != digest:
            message = "the source has changed since it was read"
            return FileOutcome(self.group_id, place, "cannot be checked", message)
        if same_json(loads(data), content):
            return FileOutcome(self.group_id, place, "passed")
        return FileOutcome(self.group_id, place, "failed", "what the tables give back is not what is published")


def _as_published(content: Any) -> Iterator[bytes]:
    """The file's bytes in the layouts that the publisher writes, one after another."""
    for ascii_only in (False, True):
        text = dumps(content, indent=4, ascii=ascii_only).encode()
        yield text
        yield text + b"\n"
