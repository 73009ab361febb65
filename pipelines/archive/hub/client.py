"""huggingface_hub, with the patience, the checks and the messages that it lacks.

HfApi is not used: importing it takes 0.4 s of the one second that a refresh with nothing new has, and its
list_repo_tree waits for an answer for ever.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from pipelines.archive.groups import ArchiveFile
from pipelines.archive.hub.address import HubAddress, checked
from pipelines.archive.hub.blobs import Blob, Commit, Tree, is_commit
from pipelines.archive.hub.cache import HubCache
from pipelines.archive.hub.explanations import Explainer
from pipelines.archive.hub.progress import Meter
from pipelines.archive.hub.retries import TRANSIENT, TRANSIENT_BODY, Stopped, patiently
from pipelines.archive.json_reader import loads
from pipelines.errors import BadRecord, SourceError, UsageError

log = logging.getLogger(__name__)

T = TypeVar("T")

_PROGRAM = "memorybench-warehouse"


class HubClient:
    """Asks one Hub for one repository. Every failure is a SourceError that says what to do."""

    def __init__(self, endpoint: str | None, cache: HubCache, address: HubAddress) -> None:
        from huggingface_hub import constants

        # It would cost a request a day that tells the Hub which program calls.
        constants.HF_HUB_DISABLE_TELEMETRY = True
        self.endpoint = (endpoint or constants.ENDPOINT).rstrip("/")
        self.cache = cache
        self.address = address
        self.offline = constants.is_offline_mode()
        self._explainer = Explainer(address, self.endpoint, cache.folder, self.offline)

    def resolve(self) -> tuple[str, str]:
        """The repository's name as the Hub spells it, and the commit that the revision is."""
        repo_id, revision = self.address
        url = f"{self.endpoint}/api/datasets/{repo_id}"
        if revision is not None:
            url += f"/revision/{quote(revision, safe='')}"
        info = self._document(self._get(url, {"expand": "sha"}))
        match info:
            case {"id": str(name), "sha": str(sha)} if is_commit(sha):
                try:
                    return checked(HubAddress(name, None)).repo_id, sha
                except UsageError:
                    pass
        raise self._explainer.not_a_hub()

    def tree(self, repo_id: str, sha: str) -> Tree:
        """Every file of a commit."""
        url: str | None = f"{self.endpoint}/api/datasets/{repo_id}/tree/{sha}"
        parameters: dict[str, str] | None = {"recursive": "true", "expand": "false"}
        tree: Tree = {}
        seen = set()
        while url is not None:
            if url in seen:
                raise self._explainer.not_a_hub()
            seen.add(url)
            response = self._get(url, parameters)
            page = self._document(response)
            if not isinstance(page, list):
                raise self._explainer.not_a_hub()
            for entry in page:
                match entry:
                    case {"type": "file", "path": str(path), "size": int(size), "oid": str(git_id)}:
                        lfs = entry.get("lfs") or {}
                        tree[path] = Blob(lfs.get("size", size), git_id, lfs.get("oid"), entry.get("xetHash"))
                    case {"type": "file"}:
                        raise self._explainer.not_a_hub()
            url = response.links.get("next", {}).get("url")
            parameters = None  # the link holds them
        if not all(blob.is_plausible for blob in tree.values()):
            raise self._explainer.not_a_hub()
        return tree

    def obtain(self, commit: Commit, file: ArchiveFile, meter: Meter, stop: threading.Event) -> Path:
        """Where the file lies on this machine, downloaded if need be, with the content that its signature says.

        A copy with other content is removed and downloaded again, once.

        Raises:
            SourceError: it could not be had.
            Stopped: `stop` is set.
        """
        if stop.is_set():
            raise Stopped
        blob = commit.tree[file.path]
        cached = self.cache.blob_file(commit.repo_id, blob)
        damaged = False
        if cached.exists():
            if blob.is_content_of(cached):
                meter.set(file, file.bytes)
                return cached
            damaged = True
            self._discard(cached, file)
        for _ in range(2):
            path = self._download(commit, file, meter, stop, again=damaged)
            if blob.is_content_of(path):
                meter.set(file, file.bytes)
                return path
            damaged = True
            self._discard(path, file)
        raise SourceError(
            f"{self.address}: {file.path} arrived twice with other content than commit {commit.sha} lists. "
            "Try again later; if it stays, something between this machine and the Hub (a proxy, a mirror) alters files."
        )

    def _discard(self, path: Path, file: ArchiveFile) -> None:
        log.warning("%s: %s is here with other content than the Hub lists; removed.", self.address, file.path)
        self.cache.discard(path)

    def _download(self, commit: Commit, file: ArchiveFile, meter: Meter, stop: threading.Event, again: bool) -> Path:
        from huggingface_hub.file_download import hf_hub_download

        def download() -> str:
            return hf_hub_download(
                commit.repo_id,
                file.path,
                repo_type="dataset",
                revision=commit.sha,
                cache_dir=self.cache.folder,
                endpoint=self.endpoint,
                library_name=_PROGRAM,
                force_download=again and not self.offline,
                tqdm_class=meter.bar(file, stop),
            )

        return Path(self._patiently(download, TRANSIENT_BODY, f"while downloading {file.path}", stop))

    def _get(self, url: str, parameters: dict[str, str] | None) -> Any:
        """The client's own GET with the client's own headers, but with a time limit."""
        from huggingface_hub import constants
        from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, http_backoff

        def get() -> Any:
            headers = build_hf_headers(library_name=_PROGRAM)
            timeout = constants.HF_HUB_DOWNLOAD_TIMEOUT
            response = http_backoff("GET", url, params=parameters, headers=headers, timeout=timeout, max_retries=0)
            hf_raise_for_status(response)
            return response

        return self._patiently(get, TRANSIENT, "while listing it", threading.Event())

    def _patiently(self, call: Callable[[], T], transient: Sequence[int], doing: str, stop: threading.Event) -> T:
        return patiently(call, transient, stop, lambda error: self._explainer.failure(error, doing), self.address)

    def _document(self, response: Any) -> Any:
        try:
            return loads(response.content)
        except BadRecord as error:
            raise self._explainer.not_a_hub() from error
