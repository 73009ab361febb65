"""Ctrl-C at a terminal, which reaches the whole process group, during each stage of a build."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.config import default_jobs
from tests.faults.harness import Scene, assert_told, injected, leftovers, mbw_build, processes_of, run, scenes

pytestmark = pytest.mark.full
NOTHING = r"^mbw: interrupted; nothing was published; run the build again$"
PUBLISHED = r"^mbw: interrupted; the new warehouse was published before that, and is whole$"

#: Where it happens, and how many seconds after that.
STAGES = {
    "plan": ("pipelines.refresh:RefreshRun.plan", 0.0),
    "load": ("pipelines.load.group_loader:normalize_group", 0.0),
    "assemble": ("pipelines.load.assembly:write", 0.0),
    "the database": ("pipelines.load.database:create_views", 0.0),
    "a query of the database": ("pipelines.load.database:create_views", 0.05),
    "statistics": ("pipelines.load.statistics:write_statistics", 0.0),
    "validate": ("pipelines.quality.validation:validate_snapshot", 0.1),
    "publish": ("pipelines.load.snapshots:_replace_link", 0.0),
}


def interrupt(scene: Scene, place: str, delay: float, message: str) -> bool:
    ended = run(injected(["interrupt", place, "--delay", str(delay)], mbw_build(scene, "--jobs", "2")))
    assert "reached" in ended.stderr, f"{place} was never reached: {ended.stderr}"
    told = "\n".join(line for line in ended.stderr.splitlines() if not line.startswith("reached"))
    ended.stderr = told
    assert_told(ended, message, status=130)
    assert leftovers(scene.warehouse) == []
    assert processes_of(scene.warehouse) == []
    is_new = scene.check_untouched_or_done()
    scene.check_repair()
    return is_new


@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupt_leaves_the_old_warehouse_and_nothing_else(tmp_path: Path, stage: str) -> None:
    assert not interrupt(scenes().refresh(tmp_path), *STAGES[stage], NOTHING)


@pytest.mark.parametrize(
    ("place", "delay"),
    [
        ("pipelines.load.workers:_load_in_processes", 0.3),  # while the workers start
        ("pipelines.load.workers:wait", 0.0),  # while they work
    ],
)
def test_an_interrupt_reaches_the_build_alone_and_not_its_workers(tmp_path: Path, place: str, delay: float) -> None:
    assert not interrupt(scenes(large=True).refresh(tmp_path), place, delay, NOTHING)


def test_an_interrupt_after_the_publication_says_so(tmp_path: Path) -> None:
    assert interrupt(scenes().refresh(tmp_path), "pipelines.load.snapshots:Warehouse.prune", 0.0, PUBLISHED)


def test_an_interrupt_of_a_query_ends_it_without_a_traceback(tmp_path: Path) -> None:
    scene = scenes().refresh(tmp_path)
    query = "SELECT count(*) FROM range(100000000) a, range(100000000) b"
    mbw = ["query", query, "--warehouse", str(scene.warehouse)]
    ended = run(injected(["interrupt", "pipelines.client.reader:SnapshotReader.execute", "--delay", "0.5"], mbw))
    assert_told(ended, r"^mbw: interrupted$", status=130)


@pytest.mark.skipif(default_jobs() < 2, reason="one processor has no worker processes")
def test_an_interrupt_of_verify_does_not_reach_its_workers(tmp_path: Path) -> None:
    scene = scenes().refresh(tmp_path)
    mbw = ["verify", "--warehouse", str(scene.warehouse)]
    ended = run(injected(["interrupt", "pipelines.load.workers:WorkerPool.submit", "--delay", "0.2"], mbw))
    assert_told(ended, r"^mbw: interrupted$", status=130)
