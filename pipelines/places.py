"""Places that nothing may be written to, because something else is there that would be lost."""

from __future__ import annotations

import os
from pathlib import Path

from pipelines.load.snapshots import Warehouse


def warehouse_around(path: Path) -> Path | None:
    """The published warehouse in whose folder a path lies, also by way of links."""
    place = Path(os.path.realpath(path))
    return next((folder for folder in (place, *place.parents) if Warehouse(folder).is_published()), None)


def has_working_directory(path: Path) -> bool:
    """Whether this process, and most likely the shell that started it, is in the folder or below: whoever replaces the
    folder leaves them in one that is gone."""
    return Path(os.path.realpath(os.curdir)).is_relative_to(os.path.realpath(path))
