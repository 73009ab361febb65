"""Remembers which digest a file's signature stood for, so that an unchanged file is not read again.

A signature is cheap (size, times and inode of a local file; the blob id of the Hub) and a digest is what counts. The
memory is a convenience: where it is lost, files are read again and nothing else changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipelines.archive.groups import ArchiveGroup
from pipelines.archive.json_reader import dumps, loads
from pipelines.errors import BadRecord
from pipelines.load.group_loader import LoadedGroup

FILE = ".signatures.json"


class SignatureCache:
    """File path and signature to digest, for one warehouse. Read when made, written by `save`."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE
        self._files: dict[str, list[str]] = {}
        self._changed = False
        try:
            content: Any = loads(self._path.read_bytes())
        except (FileNotFoundError, BadRecord):
            return
        if isinstance(content, dict) and isinstance(content.get("files"), dict):
            self._files = content["files"]

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

    def save(self) -> None:
        """Write it, where anything is new."""
        if not self._changed:
            return
        temporary = self._path.with_suffix(".new")
        temporary.write_text(dumps({"files": self._files}), encoding="utf-8")
        os.replace(temporary, self._path)
        self._changed = False
