"""A Hub of our own on the loopback interface: dataset repositories with revisions, large files and faults on demand.

It answers the routes that huggingface_hub asks for, from the standard library alone. Large files are stored as the Hub
stores them: behind a redirect to a second server, under another origin, to which a token must not travel.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import struct
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

INFO, TREE, HEAD, GET, STORAGE, OTHER = "info", "tree", "head", "get", "storage", "other"


@dataclass(frozen=True)
class Status:
    """Answers with an error. `code_header` is what the Hub calls it (X-Error-Code)."""

    status: int
    code_header: str | None = None
    message: str = "no"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Silence:
    """Says nothing for so long, then answers."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """Ends the connection after so many bytes of the body; by a reset where `reset` is set."""

    after: int
    reset: bool = False


@dataclass(frozen=True)
class Drop:
    """Ends the connection without an answer."""


@dataclass(frozen=True)
class Short:
    """A whole answer that lacks its last bytes, with a Content-Length that fits."""

    by: int = 1


@dataclass(frozen=True)
class Garbled:
    """The right length, and one byte that is not the right one."""


@dataclass(frozen=True)
class Body:
    """Another body than the right one, with status 200."""

    data: bytes


@dataclass(frozen=True)
class Call:
    """Runs something just before the right answer is given: a push at the worst moment."""

    action: Callable[[], object]


Fault = Status | Silence | Cut | Drop | Short | Garbled | Body | Call


def too_many_requests(retry_after: int) -> Status:
    return Status(429, message="slow down", headers={"Retry-After": str(retry_after)})


def server_error(status: int = 503) -> Status:
    return Status(status, message="trouble")


UNAUTHORIZED = Status(401, message="Invalid credentials in Authorization header")
FORBIDDEN = Status(403, message="forbidden")
GATED = Status(403, "GatedRepo", "Access to this dataset is restricted")
REPO_NOT_FOUND = Status(404, "RepoNotFound", "Repository not found")
REVISION_NOT_FOUND = Status(404, "RevisionNotFound", "Invalid rev id")
ENTRY_NOT_FOUND = Status(404, "EntryNotFound", "Entry not found")


@dataclass(frozen=True)
class Request:
    """What was asked: `path` is that of the file, or of the address where the request is for no file."""

    route: str
    path: str
    range: str | None
    authorization: str | None


@dataclass(frozen=True)
class _Blob:
    git_id: str
    sha256: str | None
    size: int
    place: Path


@dataclass
class _Repository:
    commits: dict[str, dict[str, _Blob]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    token: str | None = None


@dataclass
class _Misbehaviour:
    route: str
    fault: Fault
    left: int
    path: str | None


class LoopbackHub:
    """Serves until it is closed; use it in a `with`."""

    def __init__(self, *, lfs_from: int = 100_000, page_size: int = 1000) -> None:
        self.lfs_from = lfs_from
        self.page_size = page_size
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._repositories: dict[str, _Repository] = {}
        self._renamed: dict[str, str] = {}
        self._misbehaviours: list[_Misbehaviour] = []
        self._large: dict[str, _Blob] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="loopback-hub-")
        self._closing = threading.Event()
        self._servers = [self._serve(), self._serve()]

    def _serve(self) -> ThreadingHTTPServer:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        server.daemon_threads = True
        server.hub = self  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._servers[0].server_address[1]}"

    @property
    def storage(self) -> str:
        """The second origin, which serves large files."""
        return f"http://127.0.0.1:{self._servers[1].server_address[1]}"

    def close(self) -> None:
        self._closing.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()
        self._folder.cleanup()

    def __enter__(self) -> LoopbackHub:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What it holds.

    def add_revision(self, repo_id: str, folder: Path | str, ref: str | None = "main") -> str:
        """A commit with the files of a folder, as they are now; `ref` moves to it. Gives its SHA."""
        tree = {}
        folder = Path(folder)
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                tree[path.relative_to(folder).as_posix()] = self._store(path)
        with self._lock:
            repository = self._repositories.setdefault(repo_id, _Repository())
            told = json.dumps([len(repository.commits), {path: blob.git_id for path, blob in tree.items()}])
            sha = hashlib.sha1(f"{repo_id} {told}".encode()).hexdigest()
            repository.commits[sha] = tree
            if ref is not None:
                repository.refs[ref] = sha
        return sha

    def _store(self, path: Path) -> _Blob:
        data = path.read_bytes()
        sha256 = None
        git_data = data
        if len(data) >= self.lfs_from:
            sha256 = hashlib.sha256(data).hexdigest()
            git_data = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(data)}\n".encode()
        git_id = hashlib.sha1(f"blob {len(git_data)}\0".encode() + git_data).hexdigest()
        place = Path(self._folder.name) / (sha256 or git_id)
        if not place.exists():
            shutil.copyfile(path, place)
        blob = _Blob(git_id, sha256, len(data), place)
        if sha256 is not None:
            self._large[sha256] = blob
        return blob

    def move(self, repo_id: str, ref: str, sha: str) -> None:
        """Let a branch or a tag, new or not, point at a commit."""
        with self._lock:
            self._repositories[repo_id].refs[ref] = sha

    def forget(self, repo_id: str, sha: str) -> None:
        """Drop a commit, as a rewritten history does."""
        with self._lock:
            del self._repositories[repo_id].commits[sha]

    def rename(self, old: str, new: str) -> None:
        """The old name redirects from now on."""
        with self._lock:
            self._repositories[new] = self._repositories.pop(old)
            self._renamed[old] = new

    def protect(self, repo_id: str, token: str) -> None:
        """Private: without the token there is no such repository."""
        self._repositories[repo_id].token = token

    # What it does wrong, and what it was asked.

    def misbehave(self, route: str, fault: Fault, *, times: int = 1_000_000, path: str | None = None) -> None:
        """Do so on the next requests of a route, where `path` is given only on those whose path ends so."""
        with self._lock:
            self._misbehaviours.append(_Misbehaviour(route, fault, times, path))

    def behave(self) -> None:
        with self._lock:
            self._misbehaviours.clear()

    def count(self, *routes: str) -> int:
        """Requests so far, of some routes or of all."""
        return sum(not routes or request.route in routes for request in self.requests)

    def counts(self) -> dict[str, int]:
        return dict(Counter(request.route for request in self.requests))

    def downloaded(self) -> list[str]:
        """Paths of the files whose content was asked for; of large ones the path in the repository."""
        return sorted(request.path for request in self.requests if request.route in (GET, STORAGE))

    @contextmanager
    def counting(self) -> Iterator[list[Request]]:
        """The requests of a block."""
        start = len(self.requests)
        requests: list[Request] = []
        yield requests
        requests += self.requests[start:]

    def _take_fault(self, route: str, path: str) -> Fault | None:
        with self._lock:
            for one in self._misbehaviours:
                if one.route == route and one.left and (one.path is None or path.endswith(one.path)):
                    one.left -= 1
                    return one.fault
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    # Otherwise the body waits for the acknowledgement of the headers, 40 ms.
    disable_nagle_algorithm = True

    @property
    def hub(self) -> LoopbackHub:
        return self.server.hub  # type: ignore[attr-defined,no-any-return]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        address = urlsplit(self.path)
        parts = address.path.strip("/").split("/")
        match parts:
            case ["storage", sha256, *path]:
                self._at(STORAGE, unquote("/".join(path)), lambda: self._large_file(sha256))
            case ["api", "datasets", owner, name]:
                self._in_repository(INFO, f"{owner}/{name}", "main", None)
            case ["api", "datasets", owner, name, "revision", revision]:
                self._in_repository(INFO, f"{owner}/{name}", unquote(revision), None)
            case ["api", "datasets", owner, name, "tree", revision]:
                self._in_repository(TREE, f"{owner}/{name}", unquote(revision), None)
            case ["datasets", owner, name, "resolve", revision, *path] if path:
                route = HEAD if self.command == "HEAD" else GET
                self._in_repository(route, f"{owner}/{name}", unquote(revision), unquote("/".join(path)))
            case _:
                self._at(OTHER, address.path, lambda: self._error(Status(404, message="no such route")))

    def _in_repository(self, route: str, repo_id: str, revision: str, path: str | None) -> None:
        def answer() -> None:
            hub = self.hub
            if repo_id in hub._renamed:
                target = self.path.replace(f"/{repo_id}", f"/{hub._renamed[repo_id]}", 1)
                self._send(307, b"", {"Location": target})
                return
            repository = hub._repositories.get(repo_id)
            if repository is None or repository.token not in (None, self._token()):
                self._error(REPO_NOT_FOUND)
                return
            sha = repository.refs.get(revision, revision)
            tree = repository.commits.get(sha)
            if tree is None:
                self._error(REVISION_NOT_FOUND)
            elif route == INFO:
                self._json({"id": repo_id, "sha": sha, "siblings": [{"rfilename": name} for name in tree]})
            elif route == TREE:
                self._tree(tree)
            elif path not in tree:
                self._error(ENTRY_NOT_FOUND, {"X-Repo-Commit": sha})
            else:
                self._file(tree[path], sha, path)

        self._at(route, path or urlsplit(self.path).path, answer)

    def _at(self, route: str, path: str, answer: Callable[[], None]) -> None:
        headers = self.headers
        self._fault: Fault | None = None
        self.hub.requests.append(Request(route, path, headers.get("Range"), headers.get("Authorization")))
        fault = self.hub._take_fault(route, path)
        match fault:
            case Status():
                self._error(fault)
                return
            case Silence(seconds):
                self.hub._closing.wait(seconds)
            case Drop():
                self._hang_up(reset=False)
                return
            case Call(action):
                action()
        self._fault = fault
        answer()

    def _token(self) -> str | None:
        value = self.headers.get("Authorization")
        return value.removeprefix("Bearer ") if value else None

    def _tree(self, tree: dict[str, _Blob]) -> None:
        entries: list[dict[str, Any]] = []
        folders = {parent.as_posix() for path in tree for parent in Path(path).parents if parent != Path()}
        for folder in folders:
            entries.append(
                {"type": "directory", "oid": hashlib.sha1(folder.encode()).hexdigest(), "size": 0, "path": folder}
            )
        for path, blob in tree.items():
            entry = {"type": "file", "oid": blob.git_id, "size": blob.size, "path": path}
            if blob.sha256 is not None:
                entry["lfs"] = {"oid": blob.sha256, "size": blob.size, "pointerSize": 134}
            entries.append(entry)
        entries.sort(key=lambda entry: entry["path"])
        address = urlsplit(self.path)
        start = int(parse_qs(address.query).get("cursor", ["0"])[0])
        end = start + self.hub.page_size
        headers = {}
        if end < len(entries):
            url = f"{self.hub.endpoint}{address.path}?recursive=true&expand=false&cursor={end}"
            headers["Link"] = f'<{url}>; rel="next"'
        self._json(entries[start:end], headers)

    def _file(self, blob: _Blob, sha: str, path: str) -> None:
        headers = {"X-Repo-Commit": sha}
        if blob.sha256 is None:
            self._content(blob, {**headers, "ETag": f'"{blob.git_id}"'})
            return
        headers |= {
            "X-Linked-ETag": f'"{blob.sha256}"',
            "X-Linked-Size": str(blob.size),
            "Location": f"{self.hub.storage}/storage/{blob.sha256}/{quote(path)}",
        }
        self._send(302, b"", headers)

    def _large_file(self, sha256: str) -> None:
        self._content(self.hub._large[sha256], {"ETag": f'"{sha256}"'})

    def _content(self, blob: _Blob, headers: dict[str, str]) -> None:
        data = blob.place.read_bytes()
        status = 200
        asked = self.headers.get("Range")
        if asked and asked.endswith("-"):
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            data, status = data[start:], 206
        self._send(status, data, headers)

    def _json(self, value: object, headers: dict[str, str] | None = None) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _error(self, error: Status, headers: dict[str, str] | None = None) -> None:
        told = {
            "Content-Type": "application/json",
            "X-Error-Message": error.message,
            **error.headers,
            **(headers or {}),
        }
        if error.code_header:
            told["X-Error-Code"] = error.code_header
        self._send(error.status, json.dumps({"error": error.message}).encode(), told)

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        cut = None
        match self._fault:
            case Short(by):
                data = data[:-by]
            case Garbled():
                data = data[:-1] + bytes([data[-1] ^ 1])
            case Body(other):
                status, data = 200, other
            case Cut() as cut:
                pass
        try:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data if cut is None else data[: cut.after])
            if cut is not None:
                self._hang_up(cut.reset)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _hang_up(self, reset: bool) -> None:
        self.close_connection = True
        self.wfile.flush()
        if reset:
            # What was sent must be read before the reset throws it away.
            threading.Event().wait(0.05)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()
            self.wfile.close()
            self.connection.close()
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
