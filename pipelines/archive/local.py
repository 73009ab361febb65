"""An archive in a folder of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipelines.archive.groups import GROUP_FILES, ArchiveFile, ArchiveGroup, Listing
from pipelines.archive.manifest import (
    GROUP_DEPTH,
    MANIFEST,
    ManifestEntry,
    entries_from_folders,
    group_of,
    read_manifest,
)
from pipelines.archive.source import FetchedGroup
from pipelines.errors import SourceError
from pipelines.findings import Finding

#: Stands for the signature of a file that cannot be looked at; no file that was read has it.
_UNREADABLE = "unreadable"


class LocalSource:
    """Reads `root`, and nothing outside of it.

    A snapshot folder of the Hub's cache is an archive too: there every file is a link into the cache's `blobs` folder,
    the one place outside of `root` that links may lead to.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).expanduser().absolute()
        if ".." in self.root.parts:  # one name for one folder, as warehouse and tables record it
            self.root = self.root.resolve()
        if not self.root.is_dir():
            raise SourceError(f"{self.root} is not a folder. Give the folder that holds manifest.jsonl or the results.")
        real_root = self.root.resolve()
        self._allowed = [real_root]
        if real_root.parent.name == "snapshots":
            self._allowed.append(real_root.parent.parent / "blobs")

    @property
    def name(self) -> str:
        return str(self.root)

    def list_groups(self) -> Listing:
        manifest = self.root / MANIFEST
        if os.path.lexists(manifest):  # a link that leads nowhere is a fault, not an archive without a manifest
            if not self._is_inside(manifest):
                raise SourceError(f"{manifest} is a link out of the archive.")
            try:
                entries, findings = read_manifest(manifest.read_bytes())
            except OSError as error:
                raise SourceError(f"{manifest} cannot be read: {error.strerror}.") from error
        else:
            entries, findings = entries_from_folders(self._group_folders())
        groups = []
        for entry in entries:
            group, found = self._look_at(entry)
            findings += found
            if group is not None:
                groups.append(group)
        return Listing(groups, findings)

    def fetch(self, groups: Sequence[ArchiveGroup]) -> Iterator[FetchedGroup]:
        for group in groups:
            yield FetchedGroup(group, {file.name: self.root / file.path for file in group.files})

    def _group_folders(self) -> Iterator[str]:
        """The folders that hold any of the four files, and those where that cannot be seen.

        Raises:
            SourceError: a folder above those of groups cannot be read.
        """
        closed: list[str] = []

        def note(error: OSError) -> None:
            relative = Path(os.fsdecode(error.filename)).relative_to(self.root)
            if len(relative.parts) < GROUP_DEPTH:
                raise SourceError(f"{error.filename} cannot be read: {error.strerror}.") from error
            closed.append(relative.as_posix())

        for directory, _, names in os.walk(self.root, onerror=note):
            if any(name in GROUP_FILES for name in names):
                yield Path(directory).relative_to(self.root).as_posix()
        yield from closed

    def _look_at(self, entry: ManifestEntry) -> tuple[ArchiveGroup | None, list[Finding]]:
        folder = self.root / entry.relative_dir
        group_id = entry.key.group_id
        if not self._is_inside(folder):
            message = "line refused: relative_dir is a link out of the archive"
            return None, [Finding("manifest_line", "error", message, group_id=group_id, file=entry.relative_dir)]
        findings = []
        files = []
        try:
            names = sorted(os.listdir(folder))
        except FileNotFoundError:
            names = []
        except OSError:
            # Which files there are cannot be seen, so each that there should be is listed: reading them says why not.
            names = []
            expected = GROUP_FILES if entry.files is None else entry.files
            files = [ArchiveFile(name, f"{entry.relative_dir}/{name}", 0, _UNREADABLE) for name in expected]
        for name in names:
            path = folder / name
            relative = f"{entry.relative_dir}/{name}"
            try:
                if path.is_symlink() and not self._is_inside(path):
                    message = "file refused: it is a link out of the archive"
                    findings.append(Finding("refused_path", "error", message, group_id=group_id, file=relative))
                    continue
                stat = path.stat()
            except FileNotFoundError as error:
                if not os.path.lexists(path):
                    continue  # deleted since the folder was listed: as good as never there
                message = f"file cannot be read: {error.strerror}"
                findings.append(Finding("unreadable", "error", message, group_id=group_id, file=relative))
                continue
            except OSError:
                files.append(ArchiveFile(name, relative, 0, _UNREADABLE))
                continue
            if os.path.isfile(path):
                signature = f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}:{stat.st_ino}"
                files.append(ArchiveFile(name, relative, stat.st_size, signature))
        group, missing = group_of(entry, files)
        return group, findings + missing

    def _is_inside(self, path: Path) -> bool:
        real = Path(os.path.realpath(path))  # where links go in a circle, Path.resolve raises what no caller expects
        return any(real.is_relative_to(allowed) for allowed in self._allowed)
