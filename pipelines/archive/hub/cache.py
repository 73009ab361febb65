"""The cache on this machine: huggingface_hub's folders, and its own format for a tree, which then spares it requests
too."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path

from pipelines.archive.hub.blobs import Blob, Tree, is_commit
from pipelines.archive.json_reader import dumps, loads
from pipelines.errors import BadRecord

log = logging.getLogger(__name__)

_TREE_FORMAT = 1


class HubCache:
    """The cache in a folder, which need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _storage(self, repo_id: str) -> Path:
        return self.folder / f"datasets--{repo_id.replace('/', '--')}"

    def _tree_file(self, repo_id: str, sha: str) -> Path:
        return self._storage(repo_id) / "trees" / f"{sha}.json"

    def _ref_file(self, repo_id: str, revision: str) -> Path:
        return self._storage(repo_id) / "refs" / revision

    def blob_file(self, repo_id: str, blob: Blob) -> Path:
        """Where the content of a blob lies, if it is there."""
        return self._storage(repo_id) / "blobs" / blob.digest

    def tree(self, repo_id: str, sha: str) -> Tree | None:
        """The tree of a commit as it was once listed; a commit never changes."""
        try:
            kept = loads(self._tree_file(repo_id, sha).read_bytes())
            if kept["format_version"] != _TREE_FORMAT:
                return None
            tree = {}
            for path, entry in kept["files"].items():
                size = entry.get("lfs_size") or entry["size"]
                tree[path] = Blob(size, entry["blob_id"], entry.get("lfs_sha256"), entry.get("xet_hash"))
        except (OSError, BadRecord, KeyError, TypeError, AttributeError):
            return None
        return tree if all(blob.is_plausible for blob in tree.values()) else None

    def keep_tree(self, repo_id: str, sha: str, tree: Tree) -> None:
        """Remember what a commit holds."""
        files = {}
        for path, blob in sorted(tree.items()):
            files[path] = {"size": blob.size, "blob_id": blob.git_id}
            if blob.sha256:
                files[path] |= {"lfs_sha256": blob.sha256, "lfs_size": blob.size}
            if blob.xet_hash:
                files[path] |= {"xet_hash": blob.xet_hash}
        text = dumps({"format_version": _TREE_FORMAT, "files": files}, indent=1)
        _write_whole(self._tree_file(repo_id, sha), text)

    def ref(self, repo_id: str, revision: str) -> str | None:
        """The commit that a branch or tag last was."""
        try:
            sha = self._ref_file(repo_id, revision).read_text().strip()
        except (OSError, UnicodeDecodeError):
            return None
        return sha if is_commit(sha) else None

    def keep_ref(self, repo_id: str, revision: str, sha: str) -> None:
        """Remember which commit a branch or tag is."""
        if self.ref(repo_id, revision) != sha:
            _write_whole(self._ref_file(repo_id, revision), sha)

    def discard(self, path: Path) -> None:
        """Remove a file, and what it links to inside of the cache."""
        target = path.resolve()
        path.unlink(missing_ok=True)
        if target.is_relative_to(self.folder.resolve()):
            target.unlink(missing_ok=True)


def _write_whole(path: Path, text: str) -> None:
    """Write into the cache, whole or not at all. A cache that cannot be written costs requests, nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
    except OSError as error:
        log.debug("%s could not be kept: %s", path, error)
