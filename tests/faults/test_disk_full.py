"""A disk that fills up at each stage of a build: the old warehouse answers, and the next build makes up for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.harness import Scene, assert_told, injected, leftovers, mbw_build, run, scenes

pytestmark = pytest.mark.full
MEBIBYTE = 1 << 20


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    """A file system of its own at `folder`; the test is skipped where this user may not mount one."""
    folder.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("mounting a file system takes root")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], check=False, capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", "-o", "size=64m") as folder:
        yield folder


#: Where the disk fills up, and how many bytes are left then.
STAGES = {
    "before anything is written": ("pipelines.refresh:RefreshRun.plan", 0),
    "while groups are loaded": ("pipelines.load.partitions:_open", 4096),
    "while partitions are linked": ("pipelines.load.assembly:write", 8192),
    "when the database is made": ("pipelines.load.database:build_database", 0),
    "when the database's transaction ends": ("pipelines.load.database:build_database", MEBIBYTE // 16),
    "when the database is compacted": ("pipelines.load.database:build_database", 3 * MEBIBYTE),
    "while statistics are written": ("pipelines.load.statistics:write_statistics", 0),
    "while the checks are written": ("pipelines.quality.validation:validate_snapshot", 0),
    "when the refresh is recorded": ("pipelines.load.assembly:record_refresh", 0),
    "when the record is compacted": ("pipelines.load.assembly:record_refresh", 20480),
    "when the memory of files is saved": ("pipelines.load.signatures:SignatureCache.save", 0),
    "when it is published": ("pipelines.load.snapshots:Warehouse.publish", 0),
}


def fill_up(scene: Scene, place: str, room: int, disk: Path) -> None:
    filler = disk / "filler"
    fault = ["fill", place, "--filler", str(filler), "--room", str(room)]
    ended = run(injected(fault, mbw_build(scene, "--jobs", "1")))
    assert_told(ended, r"the disk is full\. Nothing was published; .* Free some space and run the build again")
    assert re.search(r"^reached [1-9]", ended.stderr, re.MULTILINE)  # the first small file may still have fitted
    assert leftovers(scene.warehouse) == []
    assert not scene.check_untouched_or_done()
    filler.unlink()
    scene.check_repair()


@pytest.mark.parametrize("stage", STAGES)
def test_a_disk_that_fills_up_leaves_the_old_warehouse(disk: Path, stage: str) -> None:
    fill_up(scenes().refresh(disk), *STAGES[stage], disk)


def test_a_disk_that_fills_up_under_worker_processes_leaves_the_old_warehouse(disk: Path) -> None:
    scene = scenes(large=True).refresh(disk)
    filler = disk / "filler"
    fault = ["fill", "pipelines.load.workers:_load_in_processes", "--filler", str(filler), "--room", "8192"]
    ended = run(injected(fault, mbw_build(scene, "--jobs", "2")))
    assert_told(ended, r"the disk is full\. Nothing was published")
    assert leftovers(scene.warehouse) == []
    assert not scene.check_untouched_or_done()
    filler.unlink()
    scene.check_repair()


def test_a_disk_too_small_for_a_first_build_holds_nothing_afterwards(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "-o", "size=1m") as disk:
        scene = scenes().first_build(disk)
        ended = run(injected(["count", "change"], mbw_build(scene, "--jobs", "1")))
        assert_told(ended, r"the disk is full\. Nothing was published")
        assert [path.name for path in scene.warehouse.rglob("*")] == ["snapshots"]
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        scene.check_repair()


def test_a_read_only_warehouse_is_refused_before_a_file_is_read_and_answers_as_before(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk") as disk:
        scene = scenes().refresh(disk)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        ended = run(injected(["count", "change"], mbw_build(scene)))
        assert_told(ended, r"cannot be written: Read-only file system\. .*--warehouse")
        assert not scene.check_untouched_or_done()
        for query in (["status"], ["query", "SELECT count(*) FROM results"], ["table", "leaderboard"]):
            assert run(injected(["count", "change"], [*query, "--warehouse", str(scene.warehouse)])).returncode == 0
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        scene.check_repair()
