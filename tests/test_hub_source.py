"""The Hub as a source: the real client against a Hub of our own, which misbehaves on demand.

Every fault ends in the right data or in a SourceError that says what to do; never in what an older commit held.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from pipelines.archive.groups import ArchiveGroup, Listing
from pipelines.archive.hub import HubAddress, HubSource, parse_address
from pipelines.archive.local import LocalSource
from pipelines.errors import SourceError, UsageError
from tests.hub.loopback import (
    ENTRY_NOT_FOUND,
    FORBIDDEN,
    GATED,
    GET,
    HEAD,
    INFO,
    REPO_NOT_FOUND,
    REVISION_NOT_FOUND,
    STORAGE,
    TREE,
    UNAUTHORIZED,
    Body,
    Call,
    Cut,
    Drop,
    Fault,
    Garbled,
    LoopbackHub,
    Short,
    Silence,
    Status,
    server_error,
    too_many_requests,
)

pytest_plugins = ["tests.hub.fixtures"]
pytestmark = pytest.mark.usefixtures("own_home", "waits")

ROOT = Path(__file__).resolve().parent.parent
REPO = "THUIR/MemoryBench-Results"
TOKEN = "hf_thisIsASecretOfTheTests"
FILES = ("evaluate_details.json", "predict.json", "run_config.json", "summary.json")
LARGE = 4_000

A_MEM = "off-policy-Qwen3-8B/domain/Open-Domain/a_mem"
MEMORYOS = "off-policy-Qwen3-8B/domain/Academic&Knowledge/memoryos"
NEW_BACKBONE = "off-policy-Gemini-3.5-Flash/task/Long-Short/a_mem"


def write_group(root: Path, relative_dir: str, *, manifest: bool = True, score: float = 0.5, **changed: object) -> None:
    """A group whose predict.json is large enough for LFS; `changed` are keys of its manifest line."""
    folder = root / relative_dir
    folder.mkdir(parents=True, exist_ok=True)
    predict = [
        {"test_idx": n, "messages": [], "response": f"{relative_dir} {n}", "dataset": "NFCats"} for n in range(60)
    ]
    details = [{"test_idx": n, "metrics": {"score": n % 5}, "dataset": "NFCats"} for n in range(3)]
    contents = (details, predict, {"memory_system": folder.name}, {"summary": {"average": score}})
    for name, content in zip(FILES, contents, strict=True):
        (folder / name).write_text(json.dumps(content))
    if manifest:
        setting, split, collection, baseline = relative_dir.split("/")[:4]
        line: dict[str, object] = {"exp": "off-policy", "model": setting.removeprefix("off-policy-")}
        line |= {"dataset_type": split, "set_name": collection, "baseline": baseline, "run_id": "published"}
        line |= {"relative_dir": relative_dir, "files": FILES, **changed}
        with (root / "manifest.jsonl").open("a") as file:
            file.write(json.dumps({key: value for key, value in line.items() if value is not None}) + "\n")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    root = tmp_path / "archive"
    root.mkdir()
    (root / "README.md").write_text("# Results\n")
    write_group(root, MEMORYOS)
    write_group(root, A_MEM)
    return root


@pytest.fixture
def hub(archive: Path) -> Iterator[LoopbackHub]:
    with LoopbackHub(lfs_from=LARGE) as server:
        server.add_revision(REPO, archive)
        yield server


@pytest.fixture
def source(hub: LoopbackHub) -> HubSource:
    return HubSource(REPO, endpoint=hub.endpoint)


@pytest.fixture
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 0.2)
    monkeypatch.setattr(constants, "HF_HUB_ETAG_TIMEOUT", 0.2)
    monkeypatch.setattr("huggingface_hub.file_download._ETAG_RETRY_TIMEOUT", 0.2)


def contents(source: HubSource | LocalSource, groups: list[ArchiveGroup] | None = None) -> dict[str, bytes]:
    """What every file of the groups holds, by path."""
    found = {}
    for fetched in source.fetch(source.list_groups().groups if groups is None else groups):
        assert set(fetched.paths) == {file.name for file in fetched.group.files}
        for file in fetched.group.files:
            found[file.path] = fetched.paths[file.name].read_bytes()
    return found


def as_read(listing: Listing) -> list[tuple[object, ...]]:
    """A listing without what tells a folder from the Hub."""
    return [
        (group.key, group.run_id, group.relative_dir, group.missing, [(file.name, file.bytes) for file in group.files])
        for group in listing.groups
    ]


def assert_downloads_only_what_is_not_here(hub: LoopbackHub, archive: Path, home: Path) -> None:
    """The next run gives everything, and asks for nothing that lies in the cache already."""
    (snapshot,) = home.glob("hub/*/snapshots/*")
    here = {path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*.json") if path.is_file()}
    with hub.counting() as requests:
        assert contents(HubSource(REPO, endpoint=hub.endpoint)) == contents(LocalSource(archive))
    again = {request.path for request in requests if request.route in (GET, STORAGE)}
    assert here
    assert again
    assert again.isdisjoint(here)


def left_over(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.endswith((".incomplete", ".tmp"))]


class TestAddress:
    @pytest.mark.parametrize(
        ("address", "expected"),
        [
            ("hf://datasets/THUIR/MemoryBench-Results", (REPO, None)),
            ("hf://datasets/THUIR/MemoryBench-Results/", (REPO, None)),
            ("hf://datasets/THUIR/MemoryBench-Results@v1.0", (REPO, "v1.0")),
            ("hf://datasets/THUIR/MemoryBench-Results@refs/pr/3", (REPO, "refs/pr/3")),
            ("hf://datasets/THUIR/MemoryBench-Results@new%2Fjudge", (REPO, "new/judge")),
            ("hf://datasets/a/b", ("a/b", None)),
        ],
    )
    def test_is_read_and_written_alike(self, address: str, expected: tuple[str, str | None]) -> None:
        assert parse_address(address) == HubAddress(*expected)
        assert str(parse_address(address)) == address.removesuffix("/")
        assert HubSource(*expected).name == address.removesuffix("/")

    @pytest.mark.parametrize(
        "address",
        [
            "THUIR/MemoryBench-Results",
            "hf://THUIR/MemoryBench-Results",
            "hf://models/THUIR/MemoryBench-Results",
            "hf://datasets/MemoryBench-Results",
            "hf://datasets/THUIR/MemoryBench-Results/domain",
            "hf://datasets/THUIR/MemoryBench-Results@main/domain",
            "hf://datasets/THUIR/MemoryBench-Results@",
            "hf://datasets/THUIR/MemoryBench-Results@..%2F..%2Fother",
            "hf://datasets/THUIR/..",
            "hf://datasets/../MemoryBench-Results",
            "hf://datasets/user:secret@host/name",
            "hf://datasets/THUIR/a--b",
            "hf://datasets//",
        ],
    )
    def test_that_is_none_is_refused(self, address: str) -> None:
        with pytest.raises(UsageError):
            parse_address(address)

    def test_module_does_not_import_the_client(self) -> None:
        program = (
            "import sys, pipelines.archive.hub; sys.exit('huggingface_hub' in sys.modules or 'httpx2' in sys.modules)"
        )
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


class TestListing:
    def test_is_that_of_the_same_folder(self, source: HubSource, archive: Path, hub: LoopbackHub) -> None:
        (archive / MEMORYOS / "summary.json").unlink()
        (archive / A_MEM / "notes.txt").write_text("beside the four")
        sha = hub.add_revision(REPO, archive)
        listing, local = source.list_groups(), LocalSource(archive).list_groups()
        assert as_read(listing) == as_read(local)
        assert listing.findings == local.findings
        assert listing.revision == sha
        assert listing.groups[0].missing == ("summary.json",)

    def test_tells_large_files_from_small_by_signature(self, source: HubSource) -> None:
        signature = source.list_groups().groups[0].signature
        assert {name: kind.partition(":")[0] for name, kind in signature.items()} == {
            "evaluate_details.json": "git",
            "predict.json": "lfs",
            "run_config.json": "git",
            "summary.json": "git",
        }

    def test_downloads_nothing_but_the_manifest(self, source: HubSource, hub: LoopbackHub) -> None:
        source.list_groups()
        assert hub.counts() == {INFO: 1, TREE: 1, HEAD: 1, GET: 1}
        assert hub.downloaded() == ["manifest.jsonl"]

    def test_of_a_commit_that_is_known_costs_one_request(self, source: HubSource, hub: LoopbackHub) -> None:
        first = source.list_groups()
        with hub.counting() as requests:
            assert HubSource(REPO, endpoint=hub.endpoint).list_groups() == first
        assert [request.route for request in requests] == [INFO]

    def test_of_a_commit_without_new_results_costs_three_requests(self, archive: Path, tmp_path: Path) -> None:
        with LoopbackHub(lfs_from=LARGE, page_size=10) as hub:  # 17 entries, hence two pages
            hub.add_revision(REPO, archive)
            first = HubSource(REPO, endpoint=hub.endpoint).list_groups()
            (archive / "README.md").write_text("# Other words\n")
            sha = hub.add_revision(REPO, archive)
            with hub.counting() as requests:
                second = HubSource(REPO, endpoint=hub.endpoint).list_groups()
            assert [request.route for request in requests] == [INFO, TREE, TREE]
            assert second.groups == first.groups
            assert second.revision == sha != first.revision

    @pytest.mark.parametrize("revision", ["v1", "release/1", "refs/pr/7"])
    def test_reads_the_revision_that_was_asked_for(self, hub: LoopbackHub, archive: Path, revision: str) -> None:
        first = hub._repositories[REPO].refs["main"]
        hub.move(REPO, revision, first)
        write_group(archive, NEW_BACKBONE)
        second = hub.add_revision(REPO, archive)
        assert HubSource(REPO, revision, endpoint=hub.endpoint).list_groups().revision == first
        assert HubSource(REPO, first, endpoint=hub.endpoint).list_groups().revision == first
        assert HubSource(REPO, endpoint=hub.endpoint).list_groups().revision == second

    def test_without_a_manifest_walks_the_tree(self, hub: LoopbackHub, archive: Path) -> None:
        (archive / "manifest.jsonl").unlink()
        hub.add_revision("someone/else", archive)
        source = HubSource("someone/else", endpoint=hub.endpoint)
        assert as_read(source.list_groups()) == as_read(LocalSource(archive).list_groups())
        assert hub.counts() == {INFO: 1, TREE: 1}

    @pytest.mark.parametrize("manifest", [True, False])
    def test_takes_the_newest_of_two_runs(self, hub: LoopbackHub, tmp_path: Path, manifest: bool) -> None:
        root = tmp_path / "runs"
        for run in ("start_at_2026-06-23-12-00-00", "start_at_2026-07-01-00-00-00"):
            setting = {"exp": None, "model": None, "setting": "off-policy-Qwen3-8B", "run_id": run}
            write_group(root, f"{A_MEM}/{run}", manifest=manifest, **setting)
        hub.add_revision(REPO, root)
        listing = HubSource(REPO, endpoint=hub.endpoint).list_groups()
        assert as_read(listing) == as_read(LocalSource(root).list_groups())
        assert [group.run_id for group in listing.groups] == ["start_at_2026-07-01-00-00-00"]
        assert [finding.check for finding in listing.findings] == ["repeated_group"]

    def test_follows_a_renamed_repository(self, source: HubSource, hub: LoopbackHub, archive: Path) -> None:
        before = contents(source)
        hub.rename(REPO, "THUIR/Renamed")
        renamed = HubSource(REPO, endpoint=hub.endpoint)
        listing = renamed.list_groups()
        assert contents(renamed) == before
        assert [(finding.check, finding.severity) for finding in listing.findings] == [("renamed_repository", "info")]
        assert "THUIR/Renamed" in listing.findings[0].message

    def test_refuses_paths_that_leave_the_archive(self, source: HubSource, hub: LoopbackHub) -> None:
        tree = [{"type": "file", "path": "../../outside/predict.json", "size": 2, "oid": "a" * 40}]
        hub.misbehave(TREE, Body(json.dumps(tree).encode()))
        listing = source.list_groups()
        assert listing.groups == []
        assert [finding.check for finding in listing.findings] == ["refused_path"]


class TestFetching:
    def test_gives_the_bytes_that_were_published(self, source: HubSource, archive: Path) -> None:
        found = contents(source)
        assert len(found) == 8
        assert found == contents(LocalSource(archive))

    def test_asks_for_each_file_once_and_then_never_again(self, source: HubSource, hub: LoopbackHub) -> None:
        before = contents(source)
        # Both evaluate_details.json and both summary.json have the same content.
        assert hub.counts() == {INFO: 1, TREE: 1, HEAD: 7, GET: 5, STORAGE: 2}
        with hub.counting() as requests:
            assert contents(HubSource(REPO, endpoint=hub.endpoint)) == before
        assert [request.route for request in requests] == [INFO]

    def test_downloads_only_what_was_asked_for(self, source: HubSource, hub: LoopbackHub) -> None:
        groups = source.list_groups().groups
        assert len(contents(source, groups[:1])) == 4
        assert [path for path in hub.downloaded() if A_MEM in path] == []

    def test_of_a_new_backbone_downloads_its_files_alone(
        self, source: HubSource, hub: LoopbackHub, archive: Path
    ) -> None:
        old = {group.key: group.signature for group in source.list_groups().groups}
        contents(source)
        write_group(archive, NEW_BACKBONE, score=0.7)
        hub.add_revision(REPO, archive)
        with hub.counting() as requests:
            changed = [group for group in source.list_groups().groups if old.get(group.key) != group.signature]
            found = contents(source, changed)
        assert {path.rpartition("/")[0] for path in found} == {NEW_BACKBONE}
        downloads = [request.path for request in requests if request.route in (GET, STORAGE)]
        assert sorted(downloads) == sorted(
            ["manifest.jsonl", *(f"{NEW_BACKBONE}/{name}" for name in ("predict.json", "summary.json"))]
        )  # its other two files are known from other groups

    def test_of_a_corrected_summary_downloads_that_file_alone(
        self, source: HubSource, hub: LoopbackHub, archive: Path
    ) -> None:
        contents(source)
        summary = archive / A_MEM / "summary.json"
        summary.write_text('{"summary": {"average": 0.25}}')
        hub.add_revision(REPO, archive)
        with hub.counting() as requests:
            found = contents(source)
        assert found[f"{A_MEM}/summary.json"] == summary.read_bytes()
        assert [request.path for request in requests if request.route in (GET, STORAGE)] == [f"{A_MEM}/summary.json"]

    def test_of_a_listing_before_the_last_is_refused(self, source: HubSource, hub: LoopbackHub, archive: Path) -> None:
        groups = source.list_groups().groups
        (archive / A_MEM / "summary.json").write_text("{}")
        hub.add_revision(REPO, archive)
        source.list_groups()
        with pytest.raises(SourceError, match="another listing"):
            contents(source, groups)

    def test_yields_a_group_before_the_next_is_here(self, hub: LoopbackHub) -> None:
        source = HubSource(REPO, endpoint=hub.endpoint, workers=1)
        fetching = source.fetch(source.list_groups().groups)
        first = next(fetching)
        hub.misbehave(GET, Status(404, "EntryNotFound"))
        hub.misbehave(HEAD, Status(404, "EntryNotFound"))
        assert first.group.key.baseline == "memoryos"
        assert all(path.is_file() for path in first.paths.values())
        fetching.close()  # type: ignore[attr-defined]

    def test_of_a_group_without_files_yields_it(self, hub: LoopbackHub, archive: Path) -> None:
        shutil.rmtree(archive / A_MEM)
        hub.add_revision(REPO, archive)
        source = HubSource(REPO, endpoint=hub.endpoint)
        group = source.list_groups().groups[1]
        assert [fetched.paths for fetched in source.fetch([group])] == [{}]
        assert len(group.missing) == 4

    def test_reports_progress_up_to_the_whole(self, hub: LoopbackHub) -> None:
        told: list[tuple[int, int]] = []
        source = HubSource(REPO, endpoint=hub.endpoint, progress=lambda done, total: told.append((done, total)))
        hub.misbehave(STORAGE, Cut(500), times=1)
        contents(source)
        totals = {total for _, total in told}
        assert len(totals) == 1
        assert max(done for done, _ in told) == told[-1][0] == totals.pop()

    def test_stays_with_its_commit_when_the_branch_moves(self, hub: LoopbackHub, archive: Path) -> None:
        before = contents(LocalSource(archive))
        first = hub._repositories[REPO].refs["main"]

        def push() -> None:
            (archive / A_MEM / "summary.json").write_text('{"summary": {"average": 0.9}}')
            (archive / A_MEM / "predict.json").write_text("[]")
            hub.add_revision(REPO, archive)

        hub.misbehave(TREE, Call(push), times=1)
        source = HubSource(REPO, endpoint=hub.endpoint)
        listing = source.list_groups()
        assert listing.revision == first
        assert contents(source, listing.groups) == before
        assert contents(source) == contents(LocalSource(archive))

    def test_says_so_when_its_commit_is_rewritten_away(self, source: HubSource, hub: LoopbackHub) -> None:
        listing = source.list_groups()
        hub.forget(REPO, str(listing.revision))
        with pytest.raises(SourceError, match="no revision"):
            contents(source, listing.groups)


class TestCache:
    def test_is_the_standard_one(self, source: HubSource, hub: LoopbackHub, own_home: Path) -> None:
        from huggingface_hub import snapshot_download

        contents(source)
        sha = source.list_groups().revision
        folder = own_home / "hub" / "datasets--THUIR--MemoryBench-Results"
        assert (folder / "refs" / "main").read_text() == sha
        assert (folder / "snapshots" / str(sha) / A_MEM / "predict.json").is_file()
        # The client reads the listing that we kept as its own.
        with hub.counting() as requests:
            snapshot_download(REPO, repo_type="dataset", revision=sha, endpoint=hub.endpoint)
        assert TREE not in {request.route for request in requests}
        assert left_over(own_home) == []

    @pytest.mark.parametrize("name", ["predict.json", "run_config.json"])
    @pytest.mark.parametrize("damage", ["other bytes", "truncated"])
    def test_that_is_damaged_is_repaired(
        self, source: HubSource, hub: LoopbackHub, archive: Path, name: str, damage: str
    ) -> None:
        group = source.list_groups().groups[0]
        path = next(source.fetch([group])).paths[name].resolve()
        data = path.read_bytes()
        path.write_bytes(data[:-1] + (b"!" if damage == "other bytes" else b""))
        with hub.counting() as requests:
            found = contents(source)
        assert found == contents(LocalSource(archive))
        assert sum(request.path.endswith(f"memoryos/{name}") and request.route != HEAD for request in requests) == 1

    def test_whose_listing_is_damaged_is_not_trusted(self, source: HubSource, own_home: Path) -> None:
        first = source.list_groups()
        (kept,) = own_home.rglob("trees/*.json")
        for text in ("{", "[]", '{"format_version": 1, "files": {"a": {"size": 1, "blob_id": "../../x"}}}'):
            kept.write_text(text)
            assert source.list_groups() == first

    def test_is_not_touched_without_it(self, hub: LoopbackHub, archive: Path, own_home: Path) -> None:
        with HubSource(REPO, endpoint=hub.endpoint, no_cache=True) as source:
            assert contents(source) == contents(LocalSource(archive))
            (path, *_) = next(source.fetch(source.list_groups().groups)).paths.values()
            temporary = next(folder for folder in path.parents if folder.name.startswith("memorybench-hub-"))
            assert path.is_file()
        assert not temporary.exists()
        assert not (own_home / "hub").exists()

    def test_keeps_what_arrived_before_an_interruption(self, hub: LoopbackHub, archive: Path, own_home: Path) -> None:
        source = HubSource(REPO, endpoint=hub.endpoint, workers=1)
        fetching = source.fetch(source.list_groups().groups)
        next(fetching)
        fetching.close()  # type: ignore[attr-defined]
        assert left_over(own_home) == []
        assert_downloads_only_what_is_not_here(hub, archive, own_home)

    def test_keeps_what_arrived_before_a_kill(self, hub: LoopbackHub, archive: Path, own_home: Path) -> None:
        hub.misbehave(STORAGE, Silence(30), times=1, path="a_mem/predict.json")
        program = (
            "from pipelines.archive.hub import HubSource\n"
            f"source = HubSource({REPO!r}, workers=1)\n"
            "list(source.fetch(source.list_groups().groups))\n"
        )
        environment = {**os.environ, "HF_ENDPOINT": hub.endpoint}
        process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environment)
        try:
            deadline = time.monotonic() + 20
            while hub.count(STORAGE) < 2 and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:
            process.kill()
            process.wait()
        assert len(left_over(own_home)) == 1  # what did not arrive whole; the client never reads it again
        assert_downloads_only_what_is_not_here(hub, archive, own_home)


class TestOffline:
    @pytest.fixture
    def offline(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
        return lambda: monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)

    def test_reads_the_commit_that_the_cache_last_saw(
        self, source: HubSource, hub: LoopbackHub, offline: Callable[[], None]
    ) -> None:
        before = contents(source)
        sha = source.list_groups().revision
        offline()
        with hub.counting() as requests:
            listing = source.list_groups()
            assert contents(source) == before
        assert requests == []
        assert listing.revision == sha
        assert [finding.check for finding in listing.findings] == ["offline_source"]
        assert str(sha) in listing.findings[0].message
        assert contents(HubSource(REPO, sha, endpoint=hub.endpoint)) == before

    def test_refuses_what_the_cache_lacks(
        self, source: HubSource, hub: LoopbackHub, offline: Callable[[], None]
    ) -> None:
        groups = source.list_groups().groups
        contents(source, groups[:1])
        offline()
        assert source.list_groups().groups == groups
        assert len(contents(source, groups[:1])) == 4
        with pytest.raises(SourceError, match="HF_HUB_OFFLINE is set, and the cache does not hold this"):
            contents(source)

    @pytest.mark.parametrize("revision", [None, "v1", "a" * 40])
    def test_refuses_an_unknown_revision(self, offline: Callable[[], None], revision: str | None) -> None:
        offline()
        with pytest.raises(SourceError, match="Build once without HF_HUB_OFFLINE"):
            HubSource(REPO, revision).list_groups()

    def test_refuses_to_work_without_a_cache(self, offline: Callable[[], None]) -> None:
        offline()
        with HubSource(REPO, no_cache=True) as source, pytest.raises(SourceError, match="without the cache"):
            source.list_groups()

    def test_after_a_renaming_reads_no_older_commit(
        self, source: HubSource, hub: LoopbackHub, archive: Path, offline: Callable[[], None]
    ) -> None:
        contents(source)
        (archive / A_MEM / "summary.json").write_text("{}")
        hub.add_revision(REPO, archive)
        hub.rename(REPO, "THUIR/Renamed")
        contents(source)
        offline()
        with pytest.raises(SourceError, match="does not know what commit"):
            source.list_groups()
        assert len(contents(HubSource("THUIR/Renamed"))) == 8


PASSING: dict[str, list[tuple[str, Fault, int]]] = {
    "429 once on each route": [(route, too_many_requests(1), 1) for route in (INFO, TREE, HEAD, GET, STORAGE)],
    "503 once on each route": [(route, server_error(), 1) for route in (INFO, TREE, HEAD, GET, STORAGE)],
    "500 twice on the commit": [(INFO, server_error(500), 2)],
    "502 twice on the tree": [(TREE, server_error(502), 2)],
    "504 twice on a large file": [(STORAGE, server_error(504), 2)],
    "500 three times on small files": [(GET, server_error(500), 3)],
    "dropped once on each route": [(route, Drop(), 1) for route in (INFO, TREE, HEAD, GET, STORAGE)],
    "tree cut in mid-body": [(TREE, Cut(100), 1)],
    "small file cut in mid-body": [(GET, Cut(3), 2)],
    "large file cut in mid-body": [(STORAGE, Cut(1000), 2)],
    "large file reset in mid-body": [(STORAGE, Cut(1000, reset=True), 2)],
    "small file of the wrong length": [(GET, Short(), 1)],
    "large file of the wrong length": [(STORAGE, Short(7), 1)],
    "small file with the wrong content": [(GET, Garbled(), 1)],
    "large file with the wrong content": [(STORAGE, Garbled(), 1)],
    "small file empty": [(GET, Body(b""), 1)],
}

LASTING: dict[str, tuple[str, Fault, str]] = {
    **{
        f"{name} on {route}": (route, fault, message)
        for route in (INFO, TREE, HEAD, GET)
        for name, fault, message in (
            ("401", UNAUTHORIZED, r"\(401\).*HF_TOKEN"),
            ("403", FORBIDDEN, r"\(403\).*token"),
            ("gated", GATED, r"gated \(403\).*hf auth login"),
            ("404 of the repository", REPO_NOT_FOUND, r"no such dataset repository \(404\)"),
            ("404 of the revision", REVISION_NOT_FOUND, r"no revision 'main'"),
            ("429", too_many_requests(1), r"limits requests \(429\).*Try again later"),
            ("500", server_error(500), r"in trouble \(500\)"),
            ("503", server_error(503), r"in trouble \(503\)"),
            ("teapot", Status(418), "answered 418"),
        )
    },
    "404 of a file on head": (HEAD, ENTRY_NOT_FOUND, "does not have it"),
    "404 of a file on get": (GET, ENTRY_NOT_FOUND, "does not have it"),
    "drop on info": (INFO, Drop(), "connection .* broke"),
    "drop on tree": (TREE, Drop(), "connection .* broke"),
    "drop on head": (HEAD, Drop(), "connection .* broke"),
    "drop on get": (GET, Drop(), "connection .* broke"),
    "cut on tree": (TREE, Cut(10), "connection .* broke"),
    "cut before the first byte on storage": (STORAGE, Cut(0), "connection .* broke"),
    "wrong length on get": (GET, Short(), "another size"),
    "wrong length on storage": (STORAGE, Short(), "another size"),
    "wrong content on get": (GET, Garbled(), "twice with other content"),
    "wrong content on storage": (STORAGE, Garbled(), "twice with other content"),
    "a page of a portal on info": (INFO, Body(b"<html>log in</html>"), "does not answer as a Hub"),
    "a page of a portal on tree": (TREE, Body(b"<html>log in</html>"), "does not answer as a Hub"),
    "no commit on info": (INFO, Body(b'{"id": "a/b", "sha": "../main"}'), "does not answer as a Hub"),
    "no repository on info": (INFO, Body(json.dumps({"id": "../b", "sha": "a" * 40}).encode()), "does not answer as a"),
    "no ids on tree": (
        TREE,
        Body(b'[{"type": "file", "path": "a", "size": 1, "oid": "../x"}]'),
        "does not answer as a",
    ),
    "an object on tree": (TREE, Body(b"{}"), "does not answer as a Hub"),
}


class TestFaults:
    @pytest.mark.parametrize("faults", PASSING.values(), ids=PASSING)
    def test_that_pass_end_in_the_right_data(
        self, source: HubSource, hub: LoopbackHub, archive: Path, own_home: Path, faults: list[tuple[str, Fault, int]]
    ) -> None:
        for route, fault, times in faults:
            hub.misbehave(route, fault, times=times)
        listing = source.list_groups()
        assert as_read(listing) == as_read(LocalSource(archive).list_groups())
        assert contents(source, listing.groups) == contents(LocalSource(archive))
        assert not any(one.left for one in hub._misbehaviours)
        assert left_over(own_home) == []

    @pytest.mark.parametrize(("route", "fault", "message"), LASTING.values(), ids=LASTING)
    def test_that_last_end_in_an_error_and_never_in_an_older_commit(
        self,
        hub: LoopbackHub,
        archive: Path,
        own_home: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
        route: str,
        fault: Fault,
        message: str,
    ) -> None:
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        caplog.set_level(logging.DEBUG)
        contents(HubSource(REPO, endpoint=hub.endpoint))  # an older commit is in the cache, whole
        write_group(archive, NEW_BACKBONE, score=0.7)
        hub.add_revision(REPO, archive)
        hub.misbehave(route, fault)
        with pytest.raises(SourceError, match=message) as error:
            contents(HubSource(REPO, endpoint=hub.endpoint))
        assert str(error.value).startswith(f"hf://datasets/{REPO}: ")
        assert TOKEN not in str(error.value) + caplog.text
        assert left_over(own_home) == []
        hub.behave()
        assert contents(HubSource(REPO, endpoint=hub.endpoint)) == contents(LocalSource(archive))

    def test_waits_as_long_as_the_hub_asks(self, source: HubSource, hub: LoopbackHub, waits: list[float]) -> None:
        hub.misbehave(INFO, too_many_requests(70), times=1)
        hub.misbehave(GET, too_many_requests(80), times=1)
        contents(source)
        assert 70.0 in waits
        assert any(wait >= 80 for wait in waits)

    def test_does_not_wait_for_longer_than_a_window(
        self, source: HubSource, hub: LoopbackHub, waits: list[float]
    ) -> None:
        hub.misbehave(TREE, too_many_requests(3600))
        with pytest.raises(SourceError, match="asks to wait 3600 s"):
            source.list_groups()
        assert waits == []

    def test_resumes_a_body_that_was_cut(
        self, source: HubSource, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 500)
        hub.misbehave(STORAGE, Cut(1000), times=1)
        contents(source)
        assert "bytes=1000-" in [request.range for request in hub.requests]

    def test_ends_at_pages_that_never_end(self, source: HubSource, hub: LoopbackHub) -> None:
        link = {"Link": f'<{hub.endpoint}/api/datasets/{REPO}/tree/x>; rel="next"', "Content-Type": "application/json"}
        hub.misbehave(TREE, Status(200, headers=link))
        with pytest.raises(SourceError, match="does not answer as a Hub"):
            source.list_groups()

    @pytest.mark.usefixtures("short_timeouts")
    @pytest.mark.parametrize("route", [INFO, TREE, HEAD, GET, STORAGE])
    def test_survives_a_silence(self, source: HubSource, hub: LoopbackHub, archive: Path, route: str) -> None:
        hub.misbehave(route, Silence(0.6), times=1)
        assert contents(source) == contents(LocalSource(archive))

    @pytest.mark.usefixtures("short_timeouts")
    @pytest.mark.parametrize("route", [INFO, TREE])
    def test_says_so_when_the_silence_lasts(self, source: HubSource, hub: LoopbackHub, route: str) -> None:
        hub.misbehave(route, Silence(30))
        with pytest.raises(SourceError, match=r"did not answer within 0\.2 s.*HF_HUB_DOWNLOAD_TIMEOUT"):
            source.list_groups()

    @pytest.mark.full
    @pytest.mark.parametrize("route", [INFO, TREE, HEAD, GET, STORAGE])
    def test_survives_twelve_seconds_of_silence(
        self, source: HubSource, hub: LoopbackHub, archive: Path, route: str
    ) -> None:
        hub.misbehave(route, Silence(12), times=1)
        assert contents(source) == contents(LocalSource(archive))

    def test_says_so_when_nobody_listens(self, source: HubSource, hub: LoopbackHub) -> None:
        contents(source)
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            endpoint = f"http://user:secret@127.0.0.1:{unused.getsockname()[1]}"
            with pytest.raises(SourceError, match=r"cannot be reached .*HF_HUB_OFFLINE=1") as error:
                HubSource(REPO, endpoint=endpoint).list_groups()
        assert "secret" not in str(error.value)

    @pytest.mark.parametrize(
        ("code", "message"), [(errno.ENOSPC, "no space is left in .*HF_HOME"), (errno.EACCES, "cannot be used: Perm")]
    )
    def test_says_so_when_the_cache_cannot_be_written(
        self, source: HubSource, monkeypatch: pytest.MonkeyPatch, code: int, message: str
    ) -> None:
        def fail(*_: object, **__: object) -> str:
            raise OSError(code, os.strerror(code))

        listing = source.list_groups()
        monkeypatch.setattr("huggingface_hub.file_download.hf_hub_download", fail)
        with pytest.raises(SourceError, match=message):
            contents(source, listing.groups)

    @pytest.mark.parametrize("kind", [RuntimeError, ConnectionError])
    def test_of_xet_are_tried_again_and_not_quoted(
        self, source: HubSource, monkeypatch: pytest.MonkeyPatch, waits: list[float], kind: type[Exception]
    ) -> None:
        def fail(*_: object, **__: object) -> str:
            raise kind("error sending request for url (https://storage/x?Signature=secret)")

        listing = source.list_groups()
        monkeypatch.setattr("huggingface_hub.file_download.hf_hub_download", fail)
        with pytest.raises(SourceError, match="HF_HUB_DISABLE_XET=1") as error:
            contents(HubSource(REPO, endpoint=source._endpoint, workers=1), listing.groups)
        assert "secret" not in str(error.value)
        assert waits[:3] == [1.0, 2.0, 4.0]


class TestEnvironment:
    def test_token_comes_from_its_file_and_stays_on_the_hub(
        self, source: HubSource, hub: LoopbackHub, archive: Path, own_home: Path
    ) -> None:
        hub.protect(REPO, TOKEN)
        with pytest.raises(SourceError, match=r"404.*a private one needs a token"):
            source.list_groups()
        own_home.mkdir(exist_ok=True)
        (own_home / "token").write_text(TOKEN)
        hub.requests.clear()
        assert contents(source) == contents(LocalSource(archive))
        sent = {request.route: request.authorization for request in hub.requests}
        assert sent.pop(STORAGE) is None
        assert set(sent.values()) == {f"Bearer {TOKEN}"}

    def test_endpoint_comes_from_hf_endpoint(self, hub: LoopbackHub) -> None:
        program = (
            "from pipelines.archive.hub import HubSource\n"
            f"source = HubSource({REPO!r})\n"
            "print(len(list(source.fetch(source.list_groups().groups))))\n"
        )
        environment = {**os.environ, "HF_ENDPOINT": hub.endpoint}
        command = [sys.executable, "-c", program]
        result = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
        assert result.stdout == "2\n"
        assert result.stderr == ""  # no progress bar of the client's
        assert set(hub.counts()) == {INFO, TREE, HEAD, GET, STORAGE}  # and nothing that only counts callers

    def test_proxies_come_from_their_variables(
        self, hub: LoopbackHub, archive: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", hub.endpoint)
        source = HubSource(REPO, endpoint="http://hub.invalid")
        assert contents(source) == contents(LocalSource(archive))

    def test_says_so_when_the_proxy_refuses(self, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTPS_PROXY", hub.endpoint)  # which knows no CONNECT
        with pytest.raises(SourceError, match="proxy does not let us through"):
            HubSource(REPO, endpoint="https://hub.invalid").list_groups()
