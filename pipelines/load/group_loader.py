"""Loads one group: reads its files, normalises them, writes its partitions. What a worker process runs."""

from __future__ import annotations

import hashlib
import mmap
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipelines.archive.groups import GROUP_FILES, ArchiveGroup
from pipelines.errors import BadRecord
from pipelines.findings import Finding
from pipelines.load.partitions import PartitionWriter
from pipelines.normalize.group import GroupFacts, normalize_group
from pipelines.normalize.validity import Validity, judge

#: Files from this size on are mapped rather than read, so that a huge group does not stand in memory twice.
MAP_BYTES = 64 << 20
#: How the message begins that says why a group is bad.
QUARANTINED = "group quarantined: "


@dataclass(frozen=True)
class LoadTask:
    """What to load: a group whose files lie at `paths`. `known_digests` are those of the version already loaded."""

    group: ArchiveGroup
    paths: dict[str, Path]
    parquet_dir: Path
    known_digests: dict[str, str] | None = None


@dataclass
class LoadedGroup:
    """What came of it. Exactly one of: `unchanged` (the digests are the known ones; nothing was written), `error`
    (the group is bad; nothing is left of it), or loaded (`facts` is set)."""

    group: ArchiveGroup
    digests: dict[str, str] = field(default_factory=dict)
    bytes_read: int = 0
    unchanged: bool = False
    error: Finding | None = None
    facts: GroupFacts | None = None
    validity: Validity = field(default_factory=lambda: Validity(None))
    rows: dict[str, int] = field(default_factory=dict)

    @property
    def files(self) -> list[dict[str, Any]]:
        """The column result_groups.files, as a list of objects."""
        return [
            {"name": file.name, "bytes": file.bytes, "digest": self.digests.get(file.name)}
            for file in sorted(self.group.files, key=lambda f: f.name)
        ]


def load_group(task: LoadTask) -> LoadedGroup:
    """Read, normalise and write one group. Bad input is a result (`error`), not an exception; a full disk or a bug is
    an exception, since then nothing may be published."""
    loaded = LoadedGroup(task.group)
    try:
        data, gone = _read(task, loaded)
        if loaded.digests == task.known_digests:
            loaded.unchanged = True
            return loaded
        with PartitionWriter(task.parquet_dir, task.group.key.partition_path) as writer:
            facts = normalize_group(task.group.key, task.group.relative_dir, data, writer.write)
    except BadRecord as error:
        loaded.error = _input_finding(task.group, error)
        return loaded
    facts.findings += gone
    loaded.facts = facts
    loaded.rows = writer.rows
    loaded.validity = judge(facts)
    return loaded


def _read(task: LoadTask, loaded: LoadedGroup) -> tuple[dict[str, bytes], list[Finding]]:
    """Every file's bytes, or a read-only map of them, which parsers take alike. Also fills in digests and sizes.

    A file beside the four may be somebody's temporary one: deleted since it was listed, it leaves the group, with a
    finding.
    """
    data: dict[str, Any] = {}
    gone: list[Finding] = []
    for file in task.group.files:
        path = task.paths[file.name]
        try:
            content = _content(path, file.bytes)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and file.name not in GROUP_FILES and not os.path.lexists(path):
                loaded.group = replace(loaded.group, files=tuple(f for f in loaded.group.files if f is not file))
                message = "listed, not loaded: it was deleted before it could be read"
                gone.append(Finding("unknown_file", "info", message, group_id=task.group.key.group_id, file=file.path))
                continue
            raise BadRecord(f"cannot be read: {error.strerror}", file=file.path) from error
        loaded.digests[file.name] = hashlib.sha256(content).hexdigest()
        loaded.bytes_read += len(content)
        if file.name in GROUP_FILES or file.name.endswith(".json"):
            data[file.name] = content
        else:
            data[file.name] = b""
    return data, gone


def _content(path: Path, expected_bytes: int) -> Any:
    with open(path, "rb") as stream:
        if expected_bytes < MAP_BYTES:
            return stream.read()
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def _input_finding(group: ArchiveGroup, error: BadRecord) -> Finding:
    return Finding(
        "input_contract",
        "error",
        f"{QUARANTINED}{error.reason}",
        group_id=group.key.group_id,
        file=error.file,
        record=error.record,
    )
