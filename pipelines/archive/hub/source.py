"""The archive in a repository of the Hub as a `Source`: its groups, and their files on this machine."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

from pipelines.archive.groups import GROUP_FILES, ArchiveFile, ArchiveGroup, Listing, path_refusal
from pipelines.archive.hub.address import HubAddress, checked
from pipelines.archive.hub.blobs import Commit
from pipelines.archive.hub.cache import HubCache
from pipelines.archive.hub.client import HubClient
from pipelines.archive.hub.commits import cached_commit, current_commit
from pipelines.archive.hub.progress import Meter, Progress
from pipelines.archive.manifest import MANIFEST, entries_from_folders, group_of, read_manifest
from pipelines.archive.source import FetchedGroup
from pipelines.errors import SourceError
from pipelines.findings import Finding


class HubSource:
    """Reads a dataset repository of the Hub. Close it, or use it in a `with`, where `no_cache` is set.

    The token, the cache, the endpoint, proxies and timeouts are those of huggingface_hub and its environment variables;
    `endpoint` and `cache_dir` override two of them. With HF_HUB_OFFLINE the commit that the cache last saw for the
    revision is read, and the listing says so; without it the cache never stands in for a Hub that does not answer.
    """

    def __init__(
        self,
        repo_id: str,
        revision: str | None = None,
        *,
        no_cache: bool = False,
        cache_dir: Path | str | None = None,
        workers: int = 8,
        progress: Progress | None = None,
        endpoint: str | None = None,
    ) -> None:
        self.address = checked(HubAddress(repo_id, revision))
        self._no_cache = no_cache
        self._cache_dir = None if cache_dir is None else Path(cache_dir).expanduser().absolute()
        self._workers = workers
        self._progress = progress
        self._endpoint = endpoint
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._commit: Commit | None = None

    @property
    def name(self) -> str:
        return str(self.address)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what was downloaded, where there is no cache to keep it."""
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def list_groups(self) -> Listing:
        client = self._client()
        if not client.offline:
            commit, findings = current_commit(client)
        elif self._no_cache:
            raise SourceError(f"{self.name}: HF_HUB_OFFLINE is set, and without the cache there is nothing to read.")
        else:
            commit, findings = cached_commit(client)
        self._commit = commit
        folders, found = _folders(commit)
        findings += found
        manifest = commit.tree.get(MANIFEST)
        if manifest is None:
            held = (folder for folder, files in folders.items() if any(file.name in GROUP_FILES for file in files))
            entries, found = entries_from_folders(held)
        else:
            file = ArchiveFile(MANIFEST, MANIFEST, manifest.size, manifest.signature)
            entries, found = read_manifest(client.obtain(commit, file, Meter(None, 0), threading.Event()).read_bytes())
        findings += found
        groups = []
        for entry in entries:
            group, found = group_of(entry, folders.get(str(PurePosixPath(entry.relative_dir)), ()))
            groups.append(group)
            findings += found
        return Listing(groups, findings, commit.sha)

    def fetch(self, groups: Sequence[ArchiveGroup]) -> Iterator[FetchedGroup]:
        if self._commit is None:
            self.list_groups()
        commit = self._commit
        assert commit is not None
        waiting: dict[str, list[_Waiting]] = {}
        contents: dict[str, ArchiveFile] = {}
        for group in groups:
            expected = _Waiting(group, {file.signature for file in group.files})
            for file in group.files:
                blob = commit.tree.get(file.path)
                if blob is None or blob.signature != file.signature:
                    raise SourceError(f"{self.name}: {file.path} stems from another listing. List the groups again.")
                contents.setdefault(file.signature, file)
            for signature in expected.signatures:
                waiting.setdefault(signature, []).append(expected)
            if not expected.signatures:
                yield FetchedGroup(group, {})
        paths: dict[str, Path] = {}
        with closing(self._obtain_all(commit, contents)) as arrivals:
            for signature, path in arrivals:
                paths[signature] = path
                for expected in waiting[signature]:
                    expected.signatures.discard(signature)
                    if not expected.signatures:
                        files = expected.group.files
                        yield FetchedGroup(expected.group, {file.name: paths[file.signature] for file in files})

    def _obtain_all(self, commit: Commit, contents: dict[str, ArchiveFile]) -> Generator[tuple[str, Path]]:
        """Each content once, though several files may have it: its signature and its path, in order of arrival. Close
        it, and no transfer goes on."""
        if not contents:
            return
        client = self._client()
        meter = Meter(self._progress, sum(file.bytes for file in contents.values()))
        stop = threading.Event()
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="hub")
        try:
            futures: dict[Future[Path], str] = {
                pool.submit(client.obtain, commit, file, meter, stop): signature for signature, file in contents.items()
            }
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def _client(self) -> HubClient:
        return HubClient(self._endpoint, HubCache(self._cache_folder()), self.address)

    def _cache_folder(self) -> Path:
        if self._no_cache:
            if self._temporary is None:
                self._temporary = tempfile.TemporaryDirectory(prefix="memorybench-hub-")
            return Path(self._temporary.name)
        if self._cache_dir is None:
            from huggingface_hub import constants

            return Path(constants.HF_HUB_CACHE).expanduser().absolute()
        return self._cache_dir


@dataclass
class _Waiting:
    """A group and the contents that it still lacks."""

    group: ArchiveGroup
    signatures: set[str]


def _folders(commit: Commit) -> tuple[dict[str, list[ArchiveFile]], list[Finding]]:
    """The files of each folder, and a finding for each file whose path cannot be used."""
    folders: dict[str, list[ArchiveFile]] = {}
    findings = []
    for path, blob in commit.tree.items():
        refusal = path_refusal(path)
        if refusal:
            findings.append(Finding("refused_path", "error", f"file refused: {refusal}", file=path))
            continue
        place = PurePosixPath(path)
        folders.setdefault(str(place.parent), []).append(ArchiveFile(place.name, path, blob.size, blob.signature))
    return folders, findings
