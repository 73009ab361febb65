"""What every source of an archive offers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipelines.archive.groups import ArchiveGroup, Listing


@dataclass(frozen=True)
class FetchedGroup:
    """A group whose files can be opened: `paths` maps each file's name to where it lies on this machine."""

    group: ArchiveGroup
    paths: dict[str, Path]


class Source(Protocol):
    """An archive of result groups: a folder, a dataset repository of the Hub."""

    @property
    def name(self) -> str:
        """What `refreshes.source` records: the address without secrets."""
        ...

    def list_groups(self) -> Listing:
        """Every group, ordered by key, from one fixed revision; reads no data file.

        Raises:
            SourceError: the archive as a whole cannot be reached or read.
        """
        ...

    def fetch(self, groups: Sequence[ArchiveGroup]) -> Iterator[FetchedGroup]:
        """Make the files of `groups` readable here and yield each group as soon as all of its files are.

        Raises:
            SourceError: a file could not be had.
        """
        ...
