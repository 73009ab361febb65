"""SIGKILL at seeded moments of a first build and of a refresh, in worker processes too.

Every other seed kills at a change of the file system, which Python is about to make; the others at a moment of the
clock, which falls into DuckDB and Arrow as well.
"""

from __future__ import annotations

import random
import re
import subprocess
import time
from functools import cache
from pathlib import Path

import pytest

from tests.faults.harness import ROOT, Scene, injected, mbw_build, processes_of, run, scenes

FULL_SEEDS = range(5)
SOAK_SEEDS = range(5, 105)


def scene_of(large: bool, first: bool, folder: Path) -> Scene:
    made = scenes(large)
    return made.first_build(folder) if first else made.refresh(folder)


def command(scene: Scene, *fault: str) -> list[str]:
    return injected(fault, mbw_build(scene, "--jobs", "2"))


@cache
def whole_run(large: bool, first: bool, folder: Path) -> tuple[int, float]:
    """How often a build that is let alone changes the file system, and how many seconds it takes."""
    scene = scene_of(large, first, folder / f"{large}-{first}")
    started = time.monotonic()
    ended = run(command(scene, "count", "change"))
    reached = re.search(r"reached (\d+)", ended.stderr)
    assert reached is not None, ended.stderr
    return int(reached[1]), time.monotonic() - started


def kill(seed: int, folder: Path, shared: Path) -> None:
    large, first = seed % 4 in (2, 3), seed % 3 == 0
    changes, seconds = whole_run(large, first, shared)
    rng = random.Random(seed)
    scene = scene_of(large, first, folder)
    if seed % 2 == 0:
        ended = run(command(scene, "kill", "change", "--nth", str(rng.randint(1, changes))))
        assert ended.returncode == -9, ended.stderr
    else:
        build = subprocess.Popen(
            command(scene, "count", "change"),
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(seconds * rng.random())
        build.kill()
        build.wait()
    scene.check_untouched_or_done()
    scene.check_repair()
    assert processes_of(scene.warehouse) == []


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole")


@pytest.mark.full
@pytest.mark.parametrize("seed", FULL_SEEDS)
def test_a_kill_at_any_moment_leaves_the_old_content_or_the_new(tmp_path: Path, shared: Path, seed: int) -> None:
    kill(seed, tmp_path, shared)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SOAK_SEEDS)
def test_a_kill_at_any_of_a_hundred_moments_leaves_the_old_content_or_the_new(
    tmp_path: Path, shared: Path, seed: int
) -> None:
    kill(seed, tmp_path, shared)


@pytest.mark.full
def test_no_worker_outlives_a_build_that_is_killed(tmp_path: Path) -> None:
    scene = scenes(large=True).refresh(tmp_path)
    # The workers inherit standard error: reading it to its end takes until the last of them is gone.
    ended = run(command(scene, "kill", "pipelines.load.workers:wait", "--nth", "2"))
    assert ended.returncode == -9
    assert not scene.check_untouched_or_done()
    scene.check_repair()
