"""Addresses of dataset repositories: hf://datasets/OWNER/NAME[@REVISION]."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from pipelines.archive.groups import path_refusal
from pipelines.errors import UsageError

DEFAULT_REVISION = "main"

_ADDRESS = re.compile(r"hf://datasets/(?P<repo>[^@/]+/[^@/]+)(?:@(?P<revision>.*))?", re.DOTALL)
_REPO_ID = re.compile(r"\w(?:[\w.-]*\w)?/\w(?:[\w.-]*\w)?", re.ASCII)
_SLASHED_REVISION = re.compile(r"refs/(?:pr/\d+|convert/[\w.-]+)")


class HubAddress(NamedTuple):
    """A dataset repository and the branch, tag or commit in it; None is the main branch."""

    repo_id: str
    revision: str | None

    def __str__(self) -> str:
        if self.revision is None:
            return f"hf://datasets/{self.repo_id}"
        slashed = _SLASHED_REVISION.fullmatch(self.revision)
        return f"hf://datasets/{self.repo_id}@{self.revision if slashed else quote(self.revision, safe='')}"


def parse_address(address: str) -> HubAddress:
    """Read hf://datasets/OWNER/NAME[@REVISION]; a '/' in the name of a branch is written %2F.

    Raises:
        UsageError: it is none.
    """
    match = _ADDRESS.fullmatch(address.removesuffix("/"))
    if match is None:
        raise UsageError(f"{address!r} is no address of a dataset. Write hf://datasets/OWNER/NAME or …/NAME@REVISION.")
    revision = match["revision"]
    if revision is not None and not _SLASHED_REVISION.fullmatch(revision):
        if "/" in revision:
            raise UsageError(
                f"{address!r} names a path inside of the repository: give the repository alone, "
                "and write a '/' in the name of a branch as %2F."
            )
        revision = unquote(revision)
    return checked(HubAddress(match["repo"], revision))


def checked(address: HubAddress) -> HubAddress:
    """The address, whose parts may be used in URLs and as names of folders and files.

    Raises:
        UsageError: they may not.
    """
    repo_id, revision = address
    if not _REPO_ID.fullmatch(repo_id) or "--" in repo_id or ".." in repo_id or repo_id.endswith(".git"):
        raise UsageError(f"{repo_id!r} is no name of a repository. Write OWNER/NAME as the Hub spells it.")
    # The name of a branch is also that of a file in the cache.
    if revision is not None and (path_refusal(revision) or revision.endswith("/")):
        raise UsageError(f"{revision!r} is no revision. Give a branch, a tag or a commit, or leave @REVISION out.")
    return address
