"""Whole refreshes from the Hub: the real client against a Hub of our own, from the first request to the published rows.

Checks of quality and statistics, which have tests of their own and cost most of the time, are left out except where a
process runs; statistics are there where two sources are compared.
"""

from __future__ import annotations

import io
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines import cli
from pipelines.archive.hub import HubSource
from pipelines.archive.sources import HubOptions, open_source
from pipelines.client import MemoryBenchResults
from pipelines.commands.progress import download_bar
from pipelines.config import BuildOptions
from pipelines.errors import SourceError
from pipelines.load.signatures import SignatureCache
from pipelines.load.snapshots import Warehouse
from pipelines.refresh import RefreshReport, refresh
from tests.conftest import leave_out_checks
from tests.handmade import (
    A_MEM,
    MEM0,
    WO_MEMORY,
    HandmadeArchive,
    Keys,
    build,
    folder,
    group_files,
    group_id,
    prediction,
)
from tests.hub.loopback import (
    FORBIDDEN,
    GATED,
    GET,
    HEAD,
    INFO,
    REPO_NOT_FOUND,
    STORAGE,
    TREE,
    UNAUTHORIZED,
    Cut,
    Fault,
    Garbled,
    LoopbackHub,
    Request,
    Short,
    Silence,
    server_error,
    too_many_requests,
)
from tests.warehouse_content import content, inodes, partitions

pytest_plugins = ["tests.hub.fixtures"]
pytestmark = pytest.mark.usefixtures("own_home", "waits")

ROOT = Path(__file__).resolve().parent.parent
REPO = "THUIR/MemoryBench-Results"
ADDRESS = f"hf://datasets/{REPO}"
TOKEN = "hf_thisIsASecretOfTheTests"
#: predict.json of these archives is larger than this, everything else is smaller.
LARGE = 3_000

GEMINI: list[Keys] = [
    ("off-policy", "Gemini-3.5-Flash", "domain", "Open-Domain", "wo_memory"),
    ("off-policy", "Gemini-3.5-Flash", "domain", "Open-Domain", "a_mem"),
]


def files_of(keys: Keys, **replaced: Any) -> dict[str, Any]:
    """The four files of a group, none of them like another group's; predict.json is large."""
    files = group_files(
        predict=[
            prediction("NFCats", 3, f"An answer of {group_id(keys)}. " + "More of it. " * 300),
            prediction("Locomo-0", 1, "Blue."),
            prediction("Locomo-1", 0, "No."),
        ],
        run_config={"memory_system": keys[4], "set_name": keys[3], "llm_model": keys[1], "split": keys[2]},
        **replaced,
    )
    files["evaluate_details.json"][0]["metrics"]["reason"] = group_id(keys)
    if "summary" not in replaced:
        files["summary.json"]["summary"]["run"] = group_id(keys)
    return files


def make_archive(root: Path, *groups: Keys) -> HandmadeArchive:
    archive = HandmadeArchive(root)
    for keys in groups or (A_MEM, WO_MEMORY, MEM0):
        archive.add(keys, files_of(keys))
    return archive


@pytest.fixture
def archive(tmp_path: Path) -> HandmadeArchive:
    return make_archive(tmp_path / "archive")


@pytest.fixture
def hub(archive: HandmadeArchive, make_default: Callable[[LoopbackHub], None]) -> Iterator[LoopbackHub]:
    with LoopbackHub(lfs_from=LARGE) as server:
        server.add_revision(REPO, archive.root)
        make_default(server)
        yield server


@pytest.fixture
def without_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_statistics(monkeypatch)


def leave_out_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.load.database.write_statistics", lambda *_: None)


def build_from_hub(warehouse: Path, address: str = ADDRESS, **options: Any) -> RefreshReport:
    with open_source(address) as source:
        return refresh(source, Warehouse(warehouse), BuildOptions(**options))


def query(warehouse: Path, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(warehouse / "memorybench.duckdb"), read_only=True) as connection:
        return connection.execute(sql, list(parameters)).fetchall()


def downloads(requests: list[Request]) -> list[str]:
    return sorted(request.path for request in requests if request.route in (GET, STORAGE))


def paths_of(*groups: Keys) -> list[str]:
    return sorted(f"{folder(keys)}/{name}" for keys in groups for name in group_files())


# A history of five revisions, refreshed after each --------------------------------------------------------------------


@dataclass
class Chapter:
    """A revision, what the refresh to it asked and did, and what the warehouse said then."""

    sha: str
    requests: list[Request]
    report: RefreshReport
    inodes: dict[str, int]
    content: dict[str, list[Any]]
    results: list[tuple[Any, ...]]
    summary_table: list[tuple[Any, ...]]


@dataclass
class Story:
    warehouse: Path
    chapters: dict[str, Chapter] = field(default_factory=dict)


RESULTS = "SELECT group_id, protocol, average, weighted_average, z_score FROM {} ORDER BY ALL"
SUMMARY_TABLE = "SELECT group_id, protocol, value, value_text FROM {} WHERE metric = 'z_score' ORDER BY ALL"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    root = tmp_path_factory.mktemp("story")
    archive = make_archive(root / "archive")
    summary = archive.root / folder(A_MEM) / "summary.json"
    published = summary.read_bytes()

    def add_a_backbone() -> None:
        for keys in GEMINI:
            archive.add(keys, files_of(keys))

    def correct_a_summary() -> None:
        corrected = json.loads(published)
        corrected["summary"] |= {"z_score": 0.5, "average": float("nan"), "new": 1}
        del corrected["average"]["NFCats"]
        archive.write(summary, corrected)

    def remove_a_group() -> None:
        shutil.rmtree(archive.root / folder(MEM0))
        archive.lines = [line for line in archive.lines if line["baseline"] != "mem0"]
        archive.write_manifest()

    def put_both_back() -> None:
        summary.write_bytes(published)
        archive.add(MEM0, files_of(MEM0))

    changes: dict[str, Callable[[], object]] = {
        "first": lambda: None,
        "backbone": add_a_backbone,
        "correction": correct_a_summary,
        "removal": remove_a_group,
        "return": put_both_back,
        "words": lambda: (archive.root / "README.md").write_text("# Results\n"),
    }
    told = Story(root / "warehouse")
    with LoopbackHub(lfs_from=LARGE) as hub, pytest.MonkeyPatch.context() as monkeypatch:
        leave_out_checks(monkeypatch)
        leave_out_statistics(monkeypatch)
        for name, change in changes.items():
            change()
            sha = hub.add_revision(REPO, archive.root)
            with hub.counting() as requests:
                source = HubSource(REPO, endpoint=hub.endpoint, cache_dir=root / "cache")
                report = refresh(source, Warehouse(told.warehouse), BuildOptions())
            told.chapters[name] = Chapter(
                sha,
                requests,
                report,
                inodes(told.warehouse),
                content(told.warehouse),
                query(told.warehouse, RESULTS.format("results")),
                query(told.warehouse, SUMMARY_TABLE.format("summary_metrics")),
            )
    return told  # outside of the patches: a fixture that yields within them would leave them to the whole module


class TestRefresh:
    def test_first_takes_everything_and_records_the_commit(self, story: Story) -> None:
        first = story.chapters["first"]
        assert downloads(first.requests) == sorted(["manifest.jsonl", *paths_of(A_MEM, WO_MEMORY, MEM0)])
        assert (first.report.revision, first.report.source) == (first.sha, ADDRESS)
        assert sorted(first.report.added) == sorted(map(group_id, (A_MEM, WO_MEMORY, MEM0)))
        assert query(story.warehouse, "SELECT source, revision FROM refreshes WHERE refresh_id = 1") == [
            (ADDRESS, first.sha)
        ]

    def test_to_a_new_backbone_reads_and_writes_its_groups_alone(self, story: Story) -> None:
        before, after = story.chapters["first"], story.chapters["backbone"]
        assert downloads(after.requests) == sorted(["manifest.jsonl", *paths_of(*GEMINI)])
        assert [r.route for r in after.requests if r.route in (INFO, TREE)] == [INFO, TREE]
        assert sorted(after.report.added) == sorted(map(group_id, GEMINI))
        assert after.report.changed == after.report.removed == []
        rewritten = {name for name in after.inodes if before.inodes.get(name) != after.inodes[name]}
        assert rewritten == {name for name in after.inodes if "backbone=Gemini-3.5-Flash" in name}
        assert before.inodes.keys() == after.inodes.keys() - rewritten

    def test_to_a_corrected_summary_reads_and_writes_its_group_alone(self, story: Story) -> None:
        before, after = story.chapters["backbone"], story.chapters["correction"]
        assert downloads(after.requests) == [f"{folder(A_MEM)}/summary.json"]
        assert len(after.requests) == 4
        assert (after.report.added, after.report.changed, after.report.removed) == ([], [group_id(A_MEM)], [])
        rewritten = {name for name in after.inodes if before.inodes.get(name) != after.inodes[name]}
        assert rewritten
        assert all("backbone=Qwen3-8B/split=domain" in name and "baseline=a_mem/" in name for name in rewritten)

    def test_to_a_removal_takes_the_rows_away(self, story: Story) -> None:
        before, after = story.chapters["correction"], story.chapters["removal"]
        assert downloads(after.requests) == ["manifest.jsonl"]
        assert after.report.removed == [group_id(MEM0)]
        assert after.inodes == {name: inode for name, inode in before.inodes.items() if "baseline=mem0/" not in name}
        for table in ("result_groups", "predictions", "sample_scores", "summary_metrics"):
            assert before.content[table] != after.content[table]
            assert not any("mem0" in row for row in after.content[table])

    def test_to_content_that_was_there_before_downloads_none_of_it(self, story: Story) -> None:
        after = story.chapters["return"]
        assert downloads(after.requests) == ["manifest.jsonl"]  # whose lines are in another order
        assert (after.report.added, after.report.changed) == ([group_id(MEM0)], [group_id(A_MEM)])
        assert after.content == story.chapters["backbone"].content

    def test_keeps_where_content_first_appeared(self, story: Story) -> None:
        revisions = dict(query(story.warehouse, "SELECT group_id, first_revision FROM result_groups"))
        chapters = story.chapters
        assert revisions == {
            group_id(WO_MEMORY): chapters["first"].sha,
            **{group_id(keys): chapters["backbone"].sha for keys in GEMINI},
            group_id(A_MEM): chapters["return"].sha,
            group_id(MEM0): chapters["return"].sha,
        }

    def test_to_a_commit_without_new_results_publishes_nothing_and_asks_three_times_at_most(self, story: Story) -> None:
        words = story.chapters["words"]
        assert words.report.published is None
        assert words.report.bytes_read == 0
        assert [request.route for request in words.requests] == [INFO, TREE]
        assert words.inodes == story.chapters["return"].inodes
        assert query(story.warehouse, "SELECT count(*) FROM refreshes") == [(5,)]

    def test_takes_note_of_when_and_where_it_looked(self, story: Story, capsys: pytest.CaptureFixture[str]) -> None:
        words, last = story.chapters["words"], story.chapters["return"]
        checked = SignatureCache(story.warehouse).checked
        assert checked is not None
        assert checked.revision == words.sha
        assert cli.main(["status", "--warehouse", str(story.warehouse)]) == 0
        text = capsys.readouterr().out
        assert f"revision   {last.sha}\n" in text
        assert f" ago: the source is at {words.sha}, which has the same results\n" in text
        assert cli.main(["status", "--warehouse", str(story.warehouse), "--json"]) == 0
        status = json.loads(capsys.readouterr().out)
        assert status["revision"] == last.sha
        assert status["checked"] == {"revision": words.sha, "at": checked.at}


class TestHistory:
    @pytest.mark.parametrize("chapter", ["first", "backbone", "correction", "removal", "return"])
    def test_gives_the_tables_of_an_earlier_revision(self, story: Story, chapter: str) -> None:
        then = story.chapters[chapter]
        same = repr  # NaN too
        results = query(story.warehouse, RESULTS.format("results_as_of(?)"), then.sha)
        assert same(results) == same(then.results)
        sql = (
            "SELECT concat_ws('/', experiment, backbone, split, collection, baseline), protocol, value, value_text "
            "FROM summary_table_as_of('z_score', ?) ORDER BY ALL"
        )
        assert query(story.warehouse, sql, then.sha[:8]) == then.summary_table

    def test_says_what_moved(self, story: Story) -> None:
        shas = {name: chapter.sha for name, chapter in story.chapters.items()}
        moved = query(
            story.warehouse,
            "SELECT change, metric, dataset_group, old_value, new_value, old_revision, new_revision "
            "FROM revision_changes WHERE group_id = ? ORDER BY new_refresh_id, dataset_group NULLS FIRST, metric",
            group_id(A_MEM),
        )
        z_score = story.chapters["first"].summary_table[0][2]
        there, back = (shas["backbone"], shas["correction"]), (shas["removal"], shas["return"])
        assert repr(moved) == repr(
            [
                ("changed", "average", None, 0.75, float("nan"), *there),
                ("added", "new", None, None, 1.0, *there),
                ("changed", "z_score", None, z_score, 0.5, *there),
                ("removed", "average", "NFCats", 4.0, None, *there),
                ("changed", "average", None, float("nan"), 0.75, *back),
                ("removed", "new", None, 1.0, None, *back),
                ("changed", "z_score", None, 0.5, z_score, *back),
                ("added", "average", "NFCats", None, 4.0, *back),
            ]
        )
        counted = query(
            story.warehouse,
            "SELECT new_refresh_id, change, count(DISTINCT group_id) FROM revision_changes GROUP BY ALL ORDER BY ALL",
        )
        assert [row for row in counted if row[0] in (2, 4)] == [(2, "added", 2), (4, "removed", 1)]

    def test_is_what_diff_prints(self, story: Story, capsys: pytest.CaptureFixture[str]) -> None:
        old, new = story.chapters["backbone"].sha, story.chapters["correction"].sha
        arguments = [old[:10], new, "--warehouse", str(story.warehouse), "--format", "json"]
        assert cli.main(["diff", *arguments]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert [(row["change"], row["metric"], row["dataset_group"], row["new"]) for row in rows] == [
            ("changed", "average", None, "NaN"),
            ("changed", "z_score", None, 0.5),
            ("added", "new", None, 1.0),
            ("removed", "average", "NFCats", None),
        ]
        # The last commit changed nothing, and so is known as well.
        words = story.chapters["words"].sha
        assert cli.main(["diff", story.chapters["return"].sha, words, "--warehouse", str(story.warehouse)]) == 0
        assert "no published number moved" in capsys.readouterr().err


# One source against another, and odd layouts --------------------------------------------------------------------------


def as_run_folders(archive: HandmadeArchive) -> None:
    """The older layout: `setting` in place of exp and model, and a folder for each run."""
    lines = archive.lines
    archive.lines = []
    for line in lines:
        old = archive.root / line["relative_dir"]
        for run in ("start_at_2026-06-23-12-00-00", "start_at_2026-06-01-00-00-00"):
            target = old / run
            target.mkdir()
            for name in line["files"]:
                shutil.copy(old / name, target / name)
            setting = {"setting": f"{line['exp']}-{line['model']}", "run_id": run}
            kept = {key: value for key, value in line.items() if key not in ("exp", "model")}
            archive.lines.append({**kept, **setting, "relative_dir": f"{line['relative_dir']}/{run}"})
        for name in line["files"]:
            (old / name).unlink()
    archive.write_manifest()


def without_manifest(archive: HandmadeArchive) -> None:
    (archive.root / "manifest.jsonl").unlink()


@pytest.mark.usefixtures("unchecked")
class TestSources:
    @pytest.mark.parametrize(
        "layout",
        [lambda archive: None, as_run_folders, without_manifest],
        ids=["as published", "with run folders and setting", "without a manifest"],
    )
    def test_folder_and_hub_give_identical_tables(
        self, archive: HandmadeArchive, hub: LoopbackHub, tmp_path: Path, layout: Callable[[HandmadeArchive], None]
    ) -> None:
        layout(archive)
        hub.add_revision("someone-else/results", archive.root)
        report = build_from_hub(tmp_path / "hub", "hf://datasets/someone-else/results")
        build(archive.root, tmp_path / "folder")
        assert len(report.added) == 3
        assert content(tmp_path / "hub", without=()) == content(tmp_path / "folder", without=())
        hub_files, folder_files = partitions(tmp_path / "hub"), partitions(tmp_path / "folder")
        assert {name: path.read_bytes() for name, path in hub_files.items()} == {
            name: path.read_bytes() for name, path in folder_files.items()
        }
        if layout is as_run_folders:
            found = query(
                tmp_path / "hub", 'SELECT run_id, "check", count(*) FROM findings, result_groups GROUP BY ALL'
            )
            assert found == [("start_at_2026-06-23-12-00-00", "repeated_group", 9)]

    def test_repository_that_was_renamed_goes_on_under_its_old_name(
        self, archive: HandmadeArchive, hub: LoopbackHub, tmp_path: Path
    ) -> None:
        first = build_from_hub(tmp_path / "warehouse")
        before = inodes(tmp_path / "warehouse")
        hub.rename(REPO, "THUIR/Renamed")
        with hub.counting() as requests:
            report = build_from_hub(tmp_path / "warehouse")
        assert report.revision == first.revision
        assert [finding.check for finding in report.findings] == ["renamed_repository"]
        assert set(downloads(requests)) <= {"manifest.jsonl"}
        assert inodes(tmp_path / "warehouse") == before
        assert build_from_hub(tmp_path / "warehouse").published is None

    def test_revision_that_is_named_is_the_one_read(
        self, archive: HandmadeArchive, hub: LoopbackHub, tmp_path: Path
    ) -> None:
        old = hub._repositories[REPO].refs["main"]
        hub.move(REPO, "v1", old)
        archive.add(GEMINI[0], files_of(GEMINI[0]))
        hub.add_revision(REPO, archive.root)
        report = build_from_hub(tmp_path / "warehouse", f"{ADDRESS}@v1")
        assert (report.revision, len(report.added)) == (old, 3)

    def test_client_reads_from_the_hub_through_it(
        self, archive: HandmadeArchive, hub: LoopbackHub, tmp_path: Path, own_home: Path
    ) -> None:
        with MemoryBenchResults.from_hf(cache_dir=tmp_path / "cache") as results:
            assert results.revision == hub._repositories[REPO].refs["main"]
            assert results.load_predict(*A_MEM) == files_of(A_MEM)["predict.json"]
            assert len(results.entries) == 3
        assert (own_home / "hub").is_dir()
        assert set(hub.counts()) == {INFO, TREE, HEAD, GET, STORAGE}
        with hub.counting() as requests, MemoryBenchResults.from_hf(cache_dir=tmp_path / "cache"):
            pass
        assert [request.route for request in requests] == [INFO]

    def test_command_line_can_do_without_the_cache(self, hub: LoopbackHub, tmp_path: Path, own_home: Path) -> None:
        arguments = ["build", "--source", ADDRESS, "--warehouse", str(tmp_path / "warehouse"), "--no-cache", "--json"]
        assert cli.main(arguments) == 0
        assert not (own_home / "hub").exists()
        assert query(tmp_path / "warehouse", "SELECT count(*) FROM result_groups") == [(3,)]

    def test_download_has_a_bar_on_a_terminal_and_none_elsewhere(
        self, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with download_bar() as progress:
            assert progress is None
        terminal = io.StringIO()
        monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys, "stderr", terminal)
        with download_bar() as progress, open_source(ADDRESS, HubOptions(progress=progress)) as source:
            list(source.fetch(source.list_groups().groups))
        assert "download: " in terminal.getvalue()


# A Hub that misbehaves ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of the first revision and the cache of its downloads, to copy."""
    root = tmp_path_factory.mktemp("first")
    with LoopbackHub(lfs_from=LARGE) as hub, pytest.MonkeyPatch.context() as monkeypatch:
        leave_out_checks(monkeypatch)
        leave_out_statistics(monkeypatch)
        hub.add_revision(REPO, make_archive(root / "archive").root)
        source = HubSource(REPO, endpoint=hub.endpoint, cache_dir=root / "home" / "hub")
        refresh(source, Warehouse(root / "warehouse"), BuildOptions())
    return root


@pytest.fixture
def warehouse(first_build: Path, tmp_path: Path, own_home: Path, archive: HandmadeArchive, hub: LoopbackHub) -> Path:
    """That warehouse, and a Hub that has gone on by one backbone since."""
    shutil.copytree(first_build / "warehouse", tmp_path / "warehouse", symlinks=True)
    shutil.copytree(first_build / "home", own_home, symlinks=True)
    for keys in GEMINI:
        archive.add(keys, files_of(keys))
    hub.add_revision(REPO, archive.root)
    return tmp_path / "warehouse"


@pytest.mark.usefixtures("unchecked", "without_statistics")
class TestMisbehaviour:
    @pytest.mark.parametrize(
        ("route", "fault", "message"),
        [
            (INFO, REPO_NOT_FOUND, "404"),
            (INFO, UNAUTHORIZED, "401"),
            (TREE, server_error(), "503"),
            (HEAD, GATED, "gated"),
            (GET, FORBIDDEN, "403"),
            (GET, Garbled(), "arrived twice with other content"),
            (STORAGE, Garbled(), "arrived twice with other content"),
            (STORAGE, Short(), "other size than announced"),
            (STORAGE, Cut(100, reset=True), "broke, several times"),
            (STORAGE, server_error(500), "500"),
            (STORAGE, too_many_requests(3600), "429"),
        ],
        ids=lambda value: value if isinstance(value, str) else type(value).__name__,
    )
    def test_ends_the_build_and_leaves_the_warehouse_alone(
        self,
        warehouse: Path,
        hub: LoopbackHub,
        route: str,
        fault: Fault,
        message: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        before = content(warehouse, without=()), os.readlink(warehouse / "current")
        hub.misbehave(route, fault)
        assert cli.main(["build", "--source", ADDRESS, "--warehouse", str(warehouse)]) == 1
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.splitlines()[-1].startswith(f"mbw: {ADDRESS}: ")
        assert message in told.err
        assert (content(warehouse, without=()), os.readlink(warehouse / "current")) == before
        assert [path.name for path in (warehouse / "snapshots").iterdir()] == ["000001"]
        checked = SignatureCache(warehouse).checked
        assert checked is not None
        assert checked.revision != hub._repositories[REPO].refs["main"]

    def test_that_passes_ends_in_the_right_tables(self, warehouse: Path, archive: HandmadeArchive, hub: LoopbackHub, tmp_path: Path) -> None:  # fmt: skip
        hub.misbehave(INFO, too_many_requests(2), times=1)
        hub.misbehave(TREE, server_error(502), times=2)
        hub.misbehave(HEAD, server_error(), times=2)
        hub.misbehave(STORAGE, Cut(1000), times=1)
        hub.misbehave(GET, Garbled(), times=1)
        report = build_from_hub(warehouse)
        assert sorted(report.added) == sorted(map(group_id, GEMINI))
        build(archive.root, tmp_path / "folder")
        assert content(warehouse) == content(tmp_path / "folder")

    def test_after_which_the_next_build_asks_only_for_what_is_missing(self, warehouse: Path, hub: LoopbackHub) -> None:
        hub.misbehave(STORAGE, server_error(), path=f"{folder(GEMINI[1])}/predict.json")
        with hub.counting() as requests, pytest.raises(SourceError):
            build_from_hub(warehouse)
        arrived = {path for path in downloads(requests) if GEMINI[1][4] not in path or "predict" not in path}
        hub.behave()
        with hub.counting() as requests:
            assert build_from_hub(warehouse).published is not None
        assert f"{folder(GEMINI[1])}/predict.json" in downloads(requests)
        assert arrived.isdisjoint(downloads(requests))

    def test_never_brings_a_token_to_light(
        self,
        warehouse: Path,
        hub: LoopbackHub,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        hub.protect(REPO, TOKEN)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        arguments = ["build", "--source", ADDRESS, "--warehouse", str(warehouse)]
        hub.misbehave(HEAD, FORBIDDEN)
        assert cli.main(arguments) == 1
        hub.behave()
        assert cli.main(arguments) == 0
        assert {request.authorization for request in hub.requests} == {None, f"Bearer {TOKEN}"}
        told = capsys.readouterr()
        assert TOKEN not in told.out + told.err + caplog.text
        for path in warehouse.rglob("*"):
            assert not path.is_file() or TOKEN.encode() not in path.read_bytes()


# Kills ----------------------------------------------------------------------------------------------------------------

SLOW = 0.02


@dataclass(frozen=True)
class Uninterrupted:
    """What a refresh of the second revision takes: its requests, and the seconds from the last of them to the end."""

    n_requests: int
    seconds_after: float


def start_build(warehouse: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pipelines.entry", "build", "--source", ADDRESS, "--warehouse", str(warehouse)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class TestKill:
    _measured: Uninterrupted | None = None

    @pytest.mark.full
    @pytest.mark.parametrize("seed", range(5))
    def test_loses_nothing_that_arrived(
        self, warehouse: Path, archive: HandmadeArchive, hub: LoopbackHub, own_home: Path, tmp_path: Path, seed: int
    ) -> None:
        self.kill_and_go_on(warehouse, archive, hub, own_home, tmp_path, seed)

    @pytest.mark.soak
    @pytest.mark.parametrize("seed", range(100, 130))
    def test_loses_nothing_that_arrived_whenever_it_comes(
        self, warehouse: Path, archive: HandmadeArchive, hub: LoopbackHub, own_home: Path, tmp_path: Path, seed: int
    ) -> None:
        self.kill_and_go_on(warehouse, archive, hub, own_home, tmp_path, seed)

    def kill_and_go_on(
        self, warehouse: Path, archive: HandmadeArchive, hub: LoopbackHub, own_home: Path, tmp_path: Path, seed: int
    ) -> None:
        for route in (HEAD, GET, STORAGE):
            hub.misbehave(route, Silence(SLOW))
        whole = self.uninterrupted(warehouse, own_home, hub, tmp_path)
        choice = random.Random(seed)
        at_request = choice.randint(1, whole.n_requests)
        seconds_after = choice.uniform(0, whole.seconds_after)
        while_downloading = choice.random() < 0.5

        before = content(warehouse, without=())
        start = hub.count()
        process = start_build(warehouse)
        try:
            wanted = at_request if while_downloading else whole.n_requests
            while hub.count() - start < wanted and process.poll() is None:
                time.sleep(0.001)
            deadline = time.monotonic() + (0 if while_downloading else seconds_after)
            while time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.001)
        finally:
            process.kill()
            _, errors = process.communicate()
        assert process.returncode in (-9, 0), errors.decode()
        after = content(warehouse, without=())
        published = after["result_groups"] != before["result_groups"]
        assert published or after == before

        cached = own_home / "hub" / f"datasets--{REPO.replace('/', '--')}"
        here = {
            path.relative_to(snapshot).as_posix()
            for snapshot in (cached / "snapshots").iterdir()
            for path in snapshot.rglob("*.json*")
            if path.is_file() and snapshot.name == hub._repositories[REPO].refs["main"]
        }
        with hub.counting() as requests:
            process = start_build(warehouse)
            _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
        assert here.isdisjoint(downloads(requests))
        build(archive.root, tmp_path / "folder")
        assert content(warehouse) == content(tmp_path / "folder")
        assert not list((warehouse / "snapshots").glob("*.partial"))
        with hub.counting() as requests:
            assert build_from_hub(warehouse).published is None
        assert [request.route for request in requests] == [INFO]

    def uninterrupted(self, warehouse: Path, own_home: Path, hub: LoopbackHub, tmp_path: Path) -> Uninterrupted:
        """Measured once, on copies."""
        if TestKill._measured is None:
            shutil.copytree(warehouse, tmp_path / "measured", symlinks=True)
            shutil.copytree(own_home, tmp_path / "home before", symlinks=True)
            start = last = hub.count()
            process = start_build(tmp_path / "measured")
            since = time.monotonic()
            while process.poll() is None:
                if hub.count() > last:
                    last, since = hub.count(), time.monotonic()
                time.sleep(0.001)
            assert process.wait() == 0
            TestKill._measured = Uninterrupted(last - start, time.monotonic() - since)
            shutil.rmtree(own_home)
            shutil.move(tmp_path / "home before", own_home)
        return TestKill._measured
