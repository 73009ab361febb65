"""Remembers which digest a file's signature stood for, so that an unchanged file is not read again.

A signature is cheap (size, times and inode of a local file; the blob id of the Hub) and a digest is what counts. When
the source was last asked, and which revision it had, stands here too: a refresh that finds nothing publishes nothing.
The memory is a convenience: where it is lost, files are read again and nothing else changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pipelines.archive.groups import ArchiveGroup
from pipelines.archive.json_reader import dumps, loads
from pipelines.errors import BadRecord
from pipelines.load.group_loader import LoadedGroup
from pipelines.load.snapshots import SIGNATURES, unfinished


@dataclass(frozen=True)
class Checked:
    """The last refresh that got as far as comparing the source with the warehouse: the source's revision and, in ISO
    8601, when that was."""

    revision: str
    at: str


class SignatureCache:
    """File path and signature to digest, for one warehouse. Read when made, written by `save`."""

    def __init__(self, root: Path) -> None:
        self._path = root / SIGNATURES
        self._files: dict[str, list[str]] = {}
        self._changed = False
        self.checked: Checked | None = None
        try:
            content: Any = loads(self._path.read_bytes())
        except (FileNotFoundError, BadRecord):
            return
        if isinstance(content, dict) and isinstance(content.get("files"), dict):
            self._files = {path: entry for path, entry in content["files"].items() if _is_entry(entry)}
            match content.get("checked"):
                case {"revision": str(revision), "at": str(at)}:
                    self.checked = Checked(revision, at)

    def digests(self, group: ArchiveGroup) -> dict[str, str] | None:
        """The digests of the group's files, or None where one of them is not known to be unchanged."""
        digests = {}
        for file in group.files:
            signature, digest = self._files.get(file.path, ("", ""))
            if signature != file.signature:
                return None
            digests[file.name] = digest
        return digests

    def update(self, loaded: Iterable[LoadedGroup]) -> None:
        """Take note of what was read."""
        for group in loaded:
            for file in group.group.files:
                digest = group.digests.get(file.name)
                if digest is not None and self._files.get(file.path) != [file.signature, digest]:
                    self._files[file.path] = [file.signature, digest]
                    self._changed = True

    def check(self, revision: str, at: datetime) -> None:
        """Take note of which revision the source had."""
        self.checked = Checked(revision, at.isoformat(timespec="seconds"))
        self._changed = True

    def save(self) -> None:
        """Write it, where anything is new."""
        if not self._changed:
            return
        temporary = unfinished(self._path)
        checked = asdict(self.checked) if self.checked else None
        temporary.write_text(dumps({"checked": checked, "files": self._files}), encoding="utf-8")
        os.replace(temporary, self._path)
        self._changed = False


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and all(isinstance(text, str) for text in entry)
