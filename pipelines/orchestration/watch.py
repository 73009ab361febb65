"""Looks at the archive without touching the warehouse: which revision it is at, and what a refresh would do.

Knows nothing of Dagster, holds no lock and reads no data file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pipelines.archive.groups import Listing
from pipelines.archive.sources import open_source
from pipelines.config import BuildOptions
from pipelines.load.snapshots import Warehouse
from pipelines.refresh import Progress, RefreshRun


@dataclass(frozen=True)
class Sighting:
    """What the archive holds at `revision`: every group, those that a refresh would read, and those that are gone.
    `published` is the number of the warehouse's snapshot, 0 where there is none."""

    revision: str
    groups: list[str]
    to_load: list[str]
    removed: list[str]
    published: int

    @property
    def changed(self) -> bool:
        return bool(self.to_load or self.removed)


def look(address: str, warehouse: Path | str) -> Sighting:
    """Compare the archive with the warehouse.

    Raises:
        SourceError: the archive cannot be reached.
    """
    with open_source(address) as source:
        plan = RefreshRun(source, Warehouse(warehouse), BuildOptions(), Progress()).plan()
    return Sighting(
        plan.listing.revision or _signature(plan.listing),
        [group.key.group_id for group in plan.listing.groups],
        [group.key.group_id for group in plan.to_load],
        plan.removed,
        plan.previous.info.refresh_id if plan.previous else 0,
    )


def _signature(listing: Listing) -> str:
    """A revision for a folder: changes whenever a file may have."""
    digest = hashlib.sha256()
    for group in listing.groups:
        digest.update(repr((group.key, group.run_id, group.relative_dir, group.missing)).encode("utf-8", "replace"))
        digest.update(repr(sorted(group.signature.items())).encode("utf-8", "replace"))
    return f"files-{digest.hexdigest()[:16]}"
