"""An archive in a dataset repository of the Hub: which commit, what it holds, and its files on this machine.

One commit is resolved and everything is read from that commit. What changed is told by blob ids alone. Files lie in the
standard cache, as huggingface_hub puts them there, and each one is checked against its blob id before it is handed out.
Retries, messages and the listing belong here; how a file travels (locks, links, Xet) is the client's business.

Requests: one for the commit; one for each 1,000 entries of its tree, unless that commit was listed before; a HEAD and a
GET for each file that the cache lacks.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import quote, unquote, urlsplit

from pipelines.archive.groups import GROUP_FILES, ArchiveFile, ArchiveGroup, Listing, path_refusal
from pipelines.archive.json_reader import dumps, loads
from pipelines.archive.manifest import MANIFEST, entries_from_folders, group_of, read_manifest
from pipelines.archive.source import FetchedGroup
from pipelines.errors import BadRecord, SourceError, UsageError
from pipelines.findings import Finding

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Told how many bytes are here and how many there will be; called from several threads, one call at a time.
Progress = Callable[[int, int], None]

_ADDRESS = re.compile(r"hf://datasets/(?P<repo>[^@/]+/[^@/]+)(?:@(?P<revision>.*))?", re.DOTALL)
_REPO_ID = re.compile(r"\w(?:[\w.-]*\w)?/\w(?:[\w.-]*\w)?", re.ASCII)
_SLASHED_REVISION = re.compile(r"refs/(?:pr/\d+|convert/[\w.-]+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DEFAULT_REVISION = "main"

#: Seconds before the second, third and fourth try of what the client does not try again itself.
_WAITS = (1.0, 2.0, 4.0)
#: A Hub that asks for more patience than this is reported instead.
_LONGEST_WAIT = 330.0
_TOO_MANY = 429
_TRANSIENT = (408, _TOO_MANY, 500, 502, 503, 504)
#: The client itself waits and tries again after the others.
_TRANSIENT_BODY = (500, 502, 503, 504)

_TREE_FORMAT = 1
_READ_BYTES = 1 << 20


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
    return _checked(HubAddress(match["repo"], revision))


def _checked(address: HubAddress) -> HubAddress:
    repo_id, revision = address
    if not _REPO_ID.fullmatch(repo_id) or "--" in repo_id or ".." in repo_id or repo_id.endswith(".git"):
        raise UsageError(f"{repo_id!r} is no name of a repository. Write OWNER/NAME as the Hub spells it.")
    # The name of a branch is also that of a file in the cache.
    if revision is not None and (path_refusal(revision) or revision.endswith("/")):
        raise UsageError(f"{revision!r} is no revision. Give a branch, a tag or a commit, or leave @REVISION out.")
    return address


@dataclass(frozen=True)
class _Blob:
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
            and _COMMIT.fullmatch(self.git_id) is not None
            and (self.sha256 is None or _SHA256.fullmatch(self.sha256) is not None)
        )

    @property
    def signature(self) -> str:
        return f"lfs:{self.sha256}" if self.sha256 else f"git:{self.git_id}"


@dataclass(frozen=True)
class _Commit:
    """A commit that was listed. `repo_id` is how the Hub spells the name today, which a renaming changes."""

    repo_id: str
    sha: str
    tree: dict[str, _Blob]


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
        self.address = _checked(HubAddress(repo_id, revision))
        self._no_cache = no_cache
        self._cache_dir = None if cache_dir is None else Path(cache_dir).expanduser().absolute()
        self._workers = workers
        self._progress = progress
        self._endpoint = endpoint
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._commit: _Commit | None = None

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
        client = _Client(self._endpoint, self._cache(), self.address)
        if client.offline:
            commit, findings = self._cached_commit(client)
        else:
            commit, findings = self._current_commit(client)
        self._commit = commit
        folders: dict[str, list[ArchiveFile]] = {}
        for path, blob in commit.tree.items():
            if path_refusal(path):
                findings.append(Finding("refused_path", "error", f"file refused: {path_refusal(path)}", file=path))
                continue
            place = PurePosixPath(path)
            folders.setdefault(str(place.parent), []).append(ArchiveFile(place.name, path, blob.size, blob.signature))
        manifest = commit.tree.get(MANIFEST)
        if manifest is None:
            held = (folder for folder, files in folders.items() if any(file.name in GROUP_FILES for file in files))
            entries, found = entries_from_folders(held)
        else:
            file = ArchiveFile(MANIFEST, MANIFEST, manifest.size, manifest.signature)
            entries, found = read_manifest(client.obtain(commit, file, _Meter(None, 0), threading.Event()).read_bytes())
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
        if not contents:
            return
        client = _Client(self._endpoint, self._cache(), self.address)
        meter = _Meter(self._progress, sum(file.bytes for file in contents.values()))
        stop = threading.Event()
        paths: dict[str, Path] = {}
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="hub")
        try:
            # Each content once, though several files may have it.
            futures: dict[Future[Path], str] = {
                pool.submit(client.obtain, commit, file, meter, stop): signature for signature, file in contents.items()
            }
            for future in as_completed(futures):
                signature = futures[future]
                paths[signature] = future.result()
                for expected in waiting[signature]:
                    expected.signatures.discard(signature)
                    if not expected.signatures:
                        files = expected.group.files
                        yield FetchedGroup(expected.group, {file.name: paths[file.signature] for file in files})
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def _cache(self) -> Path:
        if self._no_cache:
            if self._temporary is None:
                self._temporary = tempfile.TemporaryDirectory(prefix="memorybench-hub-")
            return Path(self._temporary.name)
        if self._cache_dir is None:
            from huggingface_hub import constants

            return Path(constants.HF_HUB_CACHE).expanduser().absolute()
        return self._cache_dir

    def _current_commit(self, client: _Client) -> tuple[_Commit, list[Finding]]:
        asked, revision = self.address
        repo_id, sha = client.resolve()
        findings = []
        if repo_id != asked:
            message = f"{asked} is called {repo_id} now: change the address"
            log.warning("%s.", message)
            findings.append(Finding("renamed_repository", "info", message))
        tree = client.cached_tree(repo_id, sha)
        if tree is None:
            tree = client.tree(repo_id, sha)
            client.keep_tree(repo_id, sha, tree)
        if revision is None or not _COMMIT.fullmatch(revision):
            # Under the old name too, so that offline the name does not lead to an older commit.
            for name in {repo_id, asked}:
                client.keep_ref(name, revision or _DEFAULT_REVISION, sha)
        return _Commit(repo_id, sha, tree), findings

    def _cached_commit(self, client: _Client) -> tuple[_Commit, list[Finding]]:
        repo_id, revision = self.address
        revision = revision or _DEFAULT_REVISION
        if self._no_cache:
            raise SourceError(f"{self.name}: HF_HUB_OFFLINE is set, and without the cache there is nothing to read.")
        sha = revision if _COMMIT.fullmatch(revision) else client.cached_ref(repo_id, revision)
        tree = None if sha is None else client.cached_tree(repo_id, sha)
        if sha is None or tree is None:
            raise SourceError(
                f"{self.name}: HF_HUB_OFFLINE is set, and the cache in {client.cache_dir} does not know "
                f"{'this revision' if sha is None else f'what commit {sha} holds'}. Build once without HF_HUB_OFFLINE."
            )
        message = f"HF_HUB_OFFLINE is set: this is commit {sha} of the cache; the Hub was not asked for a newer one"
        log.warning("%s: %s.", self.name, message)
        return _Commit(repo_id, sha, tree), [Finding("offline_source", "info", message)]


@dataclass
class _Waiting:
    """A group and the contents that it still lacks."""

    group: ArchiveGroup
    signatures: set[str]


class _Stopped(Exception):
    """The transfer is not wanted any more."""


class _Meter:
    """Adds up what the threads receive. A file that is sent again counts once."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._received: dict[str, int] = {}
        self._done = 0
        self._lock = threading.Lock()

    def set(self, file: ArchiveFile, received: int) -> None:
        with self._lock:
            received = min(received, file.bytes)
            self._done += received - self._received.get(file.path, 0)
            self._received[file.path] = received
            if self._progress is not None:
                self._progress(self._done, self._total)

    def bar(self, file: ArchiveFile, stop: threading.Event) -> type:
        """What the client takes for a tqdm class: its bars draw nothing, count here, and end a transfer on `stop`."""
        meter = self

        class Bar:
            total: int | None = None

            def __init__(self, *_: object, initial: int = 0, **options: object) -> None:
                self._received = initial
                # Xet calls from threads of its own, where an exception only makes noise; it alone sets a format.
                self._may_stop = "bar_format" not in options
                meter.set(file, initial)

            def __enter__(self) -> Self:
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def update(self, n: float | None = 1) -> None:
                if self._may_stop and stop.is_set():
                    raise _Stopped
                self._received += int(n or 0)
                meter.set(file, self._received)

            def update_transfer(self, n: float | None = 1) -> None:
                pass

            def set_postfix_str(self, *_: object, **__: object) -> None:
                pass

            def set_transfer_postfix_str(self, *_: object, **__: object) -> None:
                pass

            def refresh(self) -> None:
                pass

            def close(self) -> None:
                pass

        return Bar


class _Client:
    """huggingface_hub, with the patience, the checks and the messages that it lacks.

    HfApi is not used: importing it takes 0.4 s of the one second that a refresh with nothing new has, and its
    list_repo_tree waits for an answer for ever.
    """

    def __init__(self, endpoint: str | None, cache_dir: Path, address: HubAddress) -> None:
        from huggingface_hub import constants

        # It would cost a request a day that tells the Hub which program calls.
        constants.HF_HUB_DISABLE_TELEMETRY = True
        self.endpoint = (endpoint or constants.ENDPOINT).rstrip("/")
        self.cache_dir = cache_dir
        self.address = address
        self.offline = constants.is_offline_mode()

    def resolve(self) -> tuple[str, str]:
        """The repository's name as the Hub spells it, and the commit that the revision is."""
        repo_id, revision = self.address
        url = f"{self.endpoint}/api/datasets/{repo_id}"
        if revision is not None:
            url += f"/revision/{quote(revision, safe='')}"
        info = _answer(self._get(url, {"expand": "sha"}), self._not_a_hub)
        match info:
            case {"id": str(name), "sha": str(sha)} if _COMMIT.fullmatch(sha):
                try:
                    return _checked(HubAddress(name, None)).repo_id, sha
                except UsageError:
                    pass
        raise self._not_a_hub()

    def tree(self, repo_id: str, sha: str) -> dict[str, _Blob]:
        """Every file of a commit."""
        url: str | None = f"{self.endpoint}/api/datasets/{repo_id}/tree/{sha}"
        parameters: dict[str, str] | None = {"recursive": "true", "expand": "false"}
        tree: dict[str, _Blob] = {}
        seen = set()
        while url is not None:
            if url in seen:
                raise self._not_a_hub()
            seen.add(url)
            response = self._get(url, parameters)
            page = _answer(response, self._not_a_hub)
            if not isinstance(page, list):
                raise self._not_a_hub()
            for entry in page:
                match entry:
                    case {"type": "file", "path": str(path), "size": int(size), "oid": str(git_id)}:
                        lfs = entry.get("lfs") or {}
                        tree[path] = _Blob(lfs.get("size", size), git_id, lfs.get("oid"), entry.get("xetHash"))
                    case {"type": "file"}:
                        raise self._not_a_hub()
            url = response.links.get("next", {}).get("url")
            parameters = None  # the link holds them
        if not all(blob.is_plausible for blob in tree.values()):
            raise self._not_a_hub()
        return tree

    def obtain(self, commit: _Commit, file: ArchiveFile, meter: _Meter, stop: threading.Event) -> Path:
        """Where the file lies on this machine, downloaded if need be, with the content that its signature says.

        A copy with other content is removed and downloaded again, once.
        """
        if stop.is_set():
            raise _Stopped
        blob = commit.tree[file.path]
        cached = self._storage(commit.repo_id) / "blobs" / blob.digest
        damaged = False
        if cached.exists():
            if _has_content(cached, blob):
                meter.set(file, file.bytes)
                return cached
            damaged = True
            self._discard(cached, file)
        for _ in range(2):
            path = self._download(commit, file, meter, stop, again=damaged)
            if _has_content(path, blob):
                meter.set(file, file.bytes)
                return path
            damaged = True
            self._discard(path, file)
        raise SourceError(
            f"{self.address}: {file.path} arrived twice with other content than commit {commit.sha} lists. "
            "Try again later; if it stays, something between this machine and the Hub (a proxy, a mirror) alters files."
        )

    def _download(self, commit: _Commit, file: ArchiveFile, meter: _Meter, stop: threading.Event, again: bool) -> Path:
        from huggingface_hub.file_download import hf_hub_download

        def download() -> str:
            return hf_hub_download(
                commit.repo_id,
                file.path,
                repo_type="dataset",
                revision=commit.sha,
                cache_dir=self.cache_dir,
                endpoint=self.endpoint,
                library_name="memorybench-warehouse",
                force_download=again and not self.offline,
                tqdm_class=meter.bar(file, stop),
            )

        return Path(self._patiently(download, _TRANSIENT_BODY, f"while downloading {file.path}", stop))

    def _get(self, url: str, parameters: dict[str, str] | None) -> Any:
        """The client's own GET with the client's own headers, but with a time limit."""
        from huggingface_hub import constants
        from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, http_backoff

        def get() -> Any:
            headers = build_hf_headers(library_name="memorybench-warehouse")
            timeout = constants.HF_HUB_DOWNLOAD_TIMEOUT
            response = http_backoff("GET", url, params=parameters, headers=headers, timeout=timeout, max_retries=0)
            hf_raise_for_status(response)
            return response

        return self._patiently(get, _TRANSIENT, "while listing it", threading.Event())

    def _patiently(self, call: Callable[[], T], transient: Sequence[int], doing: str, stop: threading.Event) -> T:
        """Call, and again after a failure that may pass.

        Raises:
            SourceError: it did not pass.
        """
        import httpx2

        for wait in (*_WAITS, None):
            try:
                return call()
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RuntimeError) as error:
                patience = None if wait is None else _patience(error, wait, transient)
                if patience is None:
                    raise SourceError(f"{self.address}: {self._explain(error)} ({doing})") from error
                log.warning("%s: %s; trying again in %.0f s.", self.address, _reason(error), patience)
                _pause(patience, stop)
        raise AssertionError("the last try returns or raises")

    def _explain(self, error: Exception) -> str:
        """What happened and what to do, without what the client's own messages quote (signed addresses)."""
        import httpx2
        from huggingface_hub import constants, errors

        cause = _cause(error)
        repo_id, revision = self.address
        if isinstance(cause, errors.OfflineModeIsEnabled) or (self.offline and isinstance(cause, FileNotFoundError)):
            return "HF_HUB_OFFLINE is set, and the cache does not hold this. Build without HF_HUB_OFFLINE."
        if isinstance(cause, errors.HfHubHTTPError):
            status = cause.response.status_code
            if isinstance(cause, errors.GatedRepoError):
                return (
                    f"access is gated ({status}). Ask for it on {self._place}/datasets/{repo_id}, then log in with "
                    "`hf auth login` or set HF_TOKEN."
                )
            if isinstance(cause, errors.RevisionNotFoundError):
                missing = revision or _DEFAULT_REVISION
                return f"the repository has no revision {missing!r} (any more). Name a branch, a tag or a commit."
            if isinstance(cause, errors.EntryNotFoundError):
                return "the Hub lists this file and does not have it. Try again later."
            if status == 401:
                return (
                    "the Hub refuses access (401): there is no such repository, or it is private, or the token is not "
                    "valid. Check the address; log in with `hf auth login` or set HF_TOKEN."
                )
            if status == 403:
                return (
                    "the Hub refuses access (403): the token may not read this repository, or access to it is "
                    "disabled. Use a token that may read it."
                )
            if status == 404:
                return "there is no such dataset repository (404). Check the address; a private one needs a token."
            if status == _TOO_MANY:
                return (
                    f"the Hub limits requests (429){_asked(cause.response)}. Try again later; who is logged in may ask "
                    "more often."
                )
            if status >= 500:
                return f"the Hub is in trouble ({status}), and did not recover. Try again later."
            return f"the Hub answered {status}. Check HF_ENDPOINT, proxies and the address."
        if isinstance(cause, httpx2.ProxyError):
            return f"the proxy does not let us through ({_reason(cause)}). Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY."
        if isinstance(cause, httpx2.TimeoutException):
            return (
                f"{self._place} did not answer within {constants.HF_HUB_DOWNLOAD_TIMEOUT:g} s, several times. "
                "Try again later; HF_HUB_DOWNLOAD_TIMEOUT and HF_HUB_ETAG_TIMEOUT raise the limit."
            )
        if isinstance(cause, httpx2.ConnectError):
            return (
                f"{self._place} cannot be reached ({_reason(cause)}). Check the network, proxies and HF_ENDPOINT; "
                "HF_HUB_OFFLINE=1 builds from what the cache holds."
            )
        if isinstance(cause, httpx2.TransportError):
            return f"the connection to {self._place} broke, several times ({_reason(cause)}). Try again later."
        if isinstance(cause, httpx2.HTTPError | httpx2.InvalidURL | errors.FileMetadataError):
            return f"{self._place} does not answer as a Hub. Check HF_ENDPOINT and proxies."
        if isinstance(cause, OSError) and cause.errno == errno.ENOSPC:
            return f"no space is left in {self.cache_dir}. Free some, or set HF_HOME to another disk."
        if isinstance(cause, OSError) and cause.errno is not None:
            return f"the cache in {self.cache_dir} cannot be used: {cause.strerror}. HF_HOME names another place."
        if type(cause) is OSError:
            return "it arrived with another size than announced, several times. Try again later."
        return f"the transfer failed ({_reason(cause)}). Try again later; HF_HUB_DISABLE_XET=1 does without Xet."

    @property
    def _place(self) -> str:
        """The endpoint for messages: without a password."""
        parts = urlsplit(self.endpoint)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def _not_a_hub(self) -> SourceError:
        return SourceError(f"{self.address}: {self._place} does not answer as a Hub. Check HF_ENDPOINT and proxies.")

    # The cache: the client's folders, and its own format for the tree, which then spares it requests too.

    def _storage(self, repo_id: str) -> Path:
        return self.cache_dir / f"datasets--{repo_id.replace('/', '--')}"

    def cached_tree(self, repo_id: str, sha: str) -> dict[str, _Blob] | None:
        """The tree of a commit as it was once listed; a commit never changes."""
        try:
            kept = loads((self._storage(repo_id) / "trees" / f"{sha}.json").read_bytes())
            if kept["format_version"] != _TREE_FORMAT:
                return None
            tree = {}
            for path, entry in kept["files"].items():
                size = entry.get("lfs_size") or entry["size"]
                tree[path] = _Blob(size, entry["blob_id"], entry.get("lfs_sha256"), entry.get("xet_hash"))
        except (OSError, BadRecord, KeyError, TypeError, AttributeError):
            return None
        return tree if all(blob.is_plausible for blob in tree.values()) else None

    def keep_tree(self, repo_id: str, sha: str, tree: dict[str, _Blob]) -> None:
        files = {}
        for path, blob in sorted(tree.items()):
            files[path] = {"size": blob.size, "blob_id": blob.git_id}
            if blob.sha256:
                files[path] |= {"lfs_sha256": blob.sha256, "lfs_size": blob.size}
            if blob.xet_hash:
                files[path] |= {"xet_hash": blob.xet_hash}
        text = dumps({"format_version": _TREE_FORMAT, "files": files}, indent=1)
        _keep(self._storage(repo_id) / "trees" / f"{sha}.json", text)

    def cached_ref(self, repo_id: str, revision: str) -> str | None:
        try:
            sha = (self._storage(repo_id) / "refs" / revision).read_text().strip()
        except (OSError, UnicodeDecodeError):
            return None
        return sha if _COMMIT.fullmatch(sha) else None

    def keep_ref(self, repo_id: str, revision: str, sha: str) -> None:
        if self.cached_ref(repo_id, revision) != sha:
            _keep(self._storage(repo_id) / "refs" / revision, sha)

    def _discard(self, path: Path, file: ArchiveFile) -> None:
        """Remove a damaged copy: the file, and the link to it."""
        log.warning("%s: %s is here with other content than the Hub lists; removed.", self.address, file.path)
        target = path.resolve()
        path.unlink(missing_ok=True)
        if target.is_relative_to(self.cache_dir.resolve()):
            target.unlink(missing_ok=True)


def _answer(response: Any, failure: Callable[[], SourceError]) -> Any:
    try:
        return loads(response.content)
    except BadRecord as error:
        raise failure() from error


def _has_content(path: Path, blob: _Blob) -> bool:
    """Whether a file has the size and the digest of its blob id."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != blob.size:
                return False
            if blob.sha256:
                digest = hashlib.sha256()
            else:  # git's own id of a blob, which is no matter of security here
                digest = hashlib.sha1(f"blob {blob.size}\0".encode(), usedforsecurity=False)
            while chunk := file.read(_READ_BYTES):
                digest.update(chunk)
    except OSError:
        return False
    return digest.hexdigest() == blob.digest


def _keep(path: Path, text: str) -> None:
    """Write into the cache, whole or not at all. A cache that cannot be written costs requests, nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
    except OSError as error:
        log.debug("%s could not be kept: %s", path, error)


def _pause(seconds: float, stop: threading.Event) -> None:
    if stop.wait(seconds):
        raise _Stopped


def _cause(error: Exception) -> Exception:
    """The failure behind the two errors in which the client wraps one."""
    wrapped = type(error).__name__ == "LocalEntryNotFoundError" or type(error) is ValueError
    return error.__cause__ if wrapped and isinstance(error.__cause__, Exception) else error


def _reason(error: Exception) -> str:
    """A failure in a few words. Only messages of the connection itself are quoted: others may hold signed addresses."""
    import httpx2

    response = getattr(error, "response", None)
    if response is not None:
        return f"the Hub answered {response.status_code}"
    quotable = isinstance(error, httpx2.TransportError) and str(error)
    return str(error) if quotable else type(error).__name__


def _asked_wait(response: Any) -> float:
    """Seconds that the Hub asks to wait, 0 where it asks for none."""
    from huggingface_hub.utils import parse_ratelimit_headers

    limit = parse_ratelimit_headers(response.headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    after = response.headers.get("Retry-After", "").strip()
    return float(after) if after.isdigit() else 0.0


def _asked(response: Any) -> str:
    asked = _asked_wait(response)
    return f" and asks to wait {asked:.0f} s" if asked else ""


def _patience(error: Exception, wait: float, transient: Sequence[int]) -> float | None:
    """Seconds before another try, or None where it would not help: not after what the client has tried several times,
    nor where nobody listens."""
    import httpx2
    from huggingface_hub.errors import (
        FileMetadataError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
    )

    if isinstance(error, HfHubHTTPError):
        if error.response.status_code not in transient:
            return None
        asked = _asked_wait(error.response)
        return max(wait, asked) if asked <= _LONGEST_WAIT else None
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return None
    if isinstance(error, FileMetadataError | LocalEntryNotFoundError | OfflineModeIsEnabled):
        return None
    # A body of the wrong length is an OSError without a number; Xet fails with such and with RuntimeErrors.
    passing = isinstance(error, httpx2.TransportError | RuntimeError)
    return wait if passing or (isinstance(error, OSError) and error.errno is None) else None
