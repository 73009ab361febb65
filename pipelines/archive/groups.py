"""Result groups as an archive lists them: their keys, their files, and which of both are refused."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from pipelines.findings import Finding
from schemas.model import KEYS

PREDICT = "predict.json"
EVALUATE_DETAILS = "evaluate_details.json"
SUMMARY = "summary.json"
RUN_CONFIG = "run_config.json"
GROUP_FILES = (SUMMARY, EVALUATE_DETAILS, PREDICT, RUN_CONFIG)

#: No file system here holds a longer directory name.
MAX_DIRECTORY_BYTES = 255
#: Stands for NULL in a hive directory's name, in this spelling alone: so DuckDB, pyarrow, Polars and Spark read it.
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


class GroupKey(NamedTuple):
    """The five keys of a result group, in the published spelling."""

    experiment: str
    backbone: str
    split: str
    collection: str
    baseline: str

    @property
    def group_id(self) -> str:
        """The keys joined by '/'; a '/' or '%' inside a key is percent-encoded, so that two groups never meet."""
        return "/".join(key.replace("%", "%25").replace("/", "%2F") for key in self)

    @property
    def partition_path(self) -> str:
        """The hive directory of the group below a table's folder, percent-encoded as pyarrow and DuckDB do."""
        return "/".join(f"{name}={quote(value, safe='')}" for name, value in zip(KEYS, self, strict=True))

    def refusal(self) -> str | None:
        """Why no table can hold these keys, or None where it can."""
        for name, value in zip(KEYS, self, strict=True):
            if not value:
                return f"{name} is empty"
            if value == HIVE_NULL:
                return f"{name} is {HIVE_NULL}, which as a directory name stands for NULL"
            try:
                directory = f"{name}={quote(value, safe='')}"
            except UnicodeEncodeError:
                return f"{name} is not valid Unicode: {value!r}"
            if any(unicodedata.category(character) == "Cc" for character in value):
                return f"{name} holds a control character: {value!r}"
            if len(directory) > MAX_DIRECTORY_BYTES:
                return (
                    f"{name} needs a directory name of {len(directory)} bytes, more than {MAX_DIRECTORY_BYTES}: "
                    f"{value[:40]!r}…"
                )
        return None


@dataclass(frozen=True)
class ArchiveFile:
    """A file of a group. `path` is relative to the archive; `signature` changes whenever the content may have."""

    name: str
    path: str
    bytes: int
    signature: str


@dataclass(frozen=True)
class ArchiveGroup:
    """A group as listed: what there is to read. `missing` are files that the manifest names and that are not there."""

    key: GroupKey
    run_id: str | None
    relative_dir: str
    files: tuple[ArchiveFile, ...]
    missing: tuple[str, ...] = ()

    @property
    def signature(self) -> dict[str, str]:
        return {file.name: file.signature for file in self.files}


@dataclass(frozen=True)
class Listing:
    """What an archive holds. `revision` is a commit SHA, or None where only the content tells (a folder)."""

    groups: list[ArchiveGroup]
    findings: list[Finding] = field(default_factory=list)
    revision: str | None = None


def path_refusal(relative_dir: str) -> str | None:
    """Why a path from the manifest is refused, or None: it must stay inside the archive by its spelling alone."""
    path = PurePosixPath(relative_dir)
    if not relative_dir or path.is_absolute() or ".." in path.parts:
        return f"relative_dir leaves the archive or is empty: {relative_dir!r}"
    if "\\" in relative_dir:  # a separator elsewhere: where it leads depends on the machine
        return f"relative_dir holds a backslash: {relative_dir!r}"
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in relative_dir):
        return f"relative_dir holds a control character or is not valid Unicode: {relative_dir!r}"
    return None
