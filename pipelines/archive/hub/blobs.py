"""What a commit holds: its files by their blob ids, and whether a file on this machine has the content of one."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_READ_BYTES = 1 << 20


def is_commit(text: str) -> bool:
    """Whether this is how git writes the id of a commit, or of a blob, in full."""
    return _COMMIT.fullmatch(text) is not None


@dataclass(frozen=True)
class Blob:
    """A file of a commit: `digest` is its SHA-256 where the file is large (LFS), else the id that git gives it."""

    size: int
    git_id: str
    sha256: str | None
    xet_hash: str | None

    @property
    def digest(self) -> str:
        return self.sha256 or self.git_id

    @property
    def is_plausible(self) -> bool:
        """Whether the ids are ids: they become names of files."""
        optional = (isinstance(self.sha256, str | None), isinstance(self.xet_hash, str | None))
        return (
            isinstance(self.size, int)
            and isinstance(self.git_id, str)
            and all(optional)
            and is_commit(self.git_id)
            and (self.sha256 is None or _SHA256.fullmatch(self.sha256) is not None)
        )

    @property
    def signature(self) -> str:
        """What ArchiveFile.signature is for this file: equal where the content is."""
        return f"lfs:{self.sha256}" if self.sha256 else f"git:{self.git_id}"

    def is_content_of(self, path: Path) -> bool:
        """Whether a file can be read and has the size and the digest of this blob."""
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size != self.size:
                    return False
                if self.sha256:
                    digest = hashlib.sha256()
                else:  # git's own id of a blob, which is no matter of security here
                    digest = hashlib.sha1(f"blob {self.size}\0".encode(), usedforsecurity=False)
                while chunk := file.read(_READ_BYTES):
                    digest.update(chunk)
        except OSError:
            return False
        return digest.hexdigest() == self.digest


#: The files of a commit by their paths.
Tree = dict[str, Blob]


@dataclass(frozen=True)
class Commit:
    """A commit that was listed. `repo_id` is how the Hub spells the name today, which a renaming changes."""

    repo_id: str
    sha: str
    tree: Tree
