"""Builds that meet other processes, a worker that dies, files that may not be read, and a clock that was set back."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from pipelines.archive.json_reader import loads
from pipelines.config import default_jobs
from pipelines.load.snapshots import Warehouse
from tests.faults.harness import (
    ROOT,
    Scene,
    assert_told,
    injected,
    leftovers,
    mbw_build,
    processes_of,
    run,
    scenes,
    state,
)
from tests.handmade import A_MEM, WO_MEMORY, HandmadeArchive, build, folder, group_id, prediction

pytestmark = pytest.mark.full
#: Runs a command without the right of root to read and write what the permissions forbid.
UNPRIVILEGED = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


def unprivileged(command: list[str]) -> subprocess.CompletedProcess[str]:
    if UNPRIVILEGED and shutil.which(UNPRIVILEGED[0]) is None:
        pytest.skip("root may read everything, and there is no setpriv to give that up")
    return run([*UNPRIVILEGED, *command])


def test_a_second_build_stops_at_once_says_who_holds_the_lock_and_disturbs_nothing(tmp_path: Path) -> None:
    scene = scenes().refresh(tmp_path)
    first = subprocess.Popen(
        injected(["count", "change"], mbw_build(scene)),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 60
        while not (scene.warehouse / ".lock").exists() or not (scene.warehouse / ".lock").read_text():
            assert time.monotonic() < until, "the first build never started"
            time.sleep(0.02)
        first.send_signal(signal.SIGSTOP)  # it holds the lock for as long as we look
        second = run(injected(["count", "change"], mbw_build(scene)))
        assert_told(second, rf"is being built by process {first.pid} on \S+ since .*Try again when it has ended")
    finally:
        first.kill()
        first.communicate()
    assert not scene.check_untouched_or_done()
    scene.check_repair()


def test_the_death_of_a_worker_ends_the_build_and_says_so(tmp_path: Path) -> None:
    scene = scenes(large=True).refresh(tmp_path)
    ended = run(injected(["crash", "pipelines.load.workers:wait"], mbw_build(scene, "--jobs", "2")))
    assert_told(ended, r"A worker process died.*Nothing was published; run the build again, with a smaller --jobs")
    assert leftovers(scene.warehouse) == []
    assert processes_of(scene.warehouse) == []
    assert not scene.check_untouched_or_done()
    scene.check_repair()


@pytest.mark.skipif(default_jobs() < 2, reason="one processor has no worker processes")
def test_the_death_of_a_worker_ends_verify_and_says_so(tmp_path: Path) -> None:
    scene = scenes().refresh(tmp_path)
    mbw = ["verify", "--warehouse", str(scene.warehouse)]
    ended = run(injected(["crash", "pipelines.load.workers:WorkerPool.submit", "--delay", "0.05"], mbw))
    assert_told(ended, r"^mbw: A worker process died, perhaps for lack of memory. Verify again.$")


@pytest.fixture
def own(tmp_path: Path) -> Scene:
    """An archive and a warehouse that the test may change, of the same content."""
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM)
    archive.add(WO_MEMORY)
    build(archive.root, tmp_path / "warehouse")
    content = state(tmp_path / "warehouse")
    return Scene(archive.root, tmp_path / "warehouse", content, content)


@pytest.mark.parametrize("manifest", [True, False], ids=["with a manifest", "without a manifest"])
@pytest.mark.parametrize("name", ["predict.json", ""], ids=["a file", "its folder"])
def test_what_may_not_be_read_makes_its_own_group_stale(own: Scene, name: str, manifest: bool) -> None:
    if not manifest:
        (own.archive / "manifest.jsonl").unlink()
        build(own.archive, own.warehouse)
    forbidden = own.archive / folder(A_MEM) / name
    os.utime(forbidden, (1, 1))
    mode = forbidden.stat().st_mode
    forbidden.chmod(0)
    try:
        ended = unprivileged(injected(["count", "change"], mbw_build(own)))
    finally:
        forbidden.chmod(mode)
    assert ended.returncode == 3, ended.stderr
    summary = loads(ended.stdout.encode())
    assert summary["groups"] == {"complete": 1, "stale": 1}
    assert "cannot be read: Permission denied" in summary["first_findings"][0]
    with duckdb.connect(str(own.warehouse / "memorybench.duckdb"), read_only=True) as connection:
        status = dict(connection.execute("SELECT group_id, status FROM result_groups").fetchall())
        assert status == {group_id(A_MEM): "stale", group_id(WO_MEMORY): "complete"}
        assert connection.execute("SELECT count(*) FROM predictions").fetchone() == (6,)
    build(own.archive, own.warehouse)  # what was stale is read again, now that it can be
    with duckdb.connect(str(own.warehouse / "memorybench.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT DISTINCT status FROM result_groups").fetchall() == [("complete",)]


@pytest.mark.parametrize("name", ["", "snapshots", ".signatures.json"])
def test_a_warehouse_that_may_not_be_written_is_left_alone(own: Scene, name: str) -> None:
    archive = HandmadeArchive(own.archive)
    archive.write(own.archive / folder(A_MEM) / "predict.json", [prediction("NFCats", 3, "Another answer.")])
    forbidden = own.warehouse / name
    mode = forbidden.stat().st_mode
    forbidden.chmod(0o555 if forbidden.is_dir() else 0)
    try:
        ended = unprivileged(injected(["count", "change"], mbw_build(own)))
    finally:
        forbidden.chmod(mode)
    assert_told(ended, r"(cannot be written|Permission denied).*(Nothing was|--warehouse)")
    assert own.check_untouched_or_done()  # old and new are the same here
    assert leftovers(own.warehouse) == []


def test_a_clock_that_was_set_back_changes_nothing(own: Scene) -> None:
    """The last refresh lies in the future, and so do the files; what is published last is current all the same."""
    archive = HandmadeArchive(own.archive)
    future = time.time() + 10 * 365 * 86400
    changed = own.archive / folder(A_MEM) / "predict.json"
    archive.write(changed, [prediction("NFCats", 3, "From the future.")])
    os.utime(changed, (future, future))
    with duckdb.connect(str((own.warehouse / "memorybench.duckdb").resolve())) as connection:
        connection.execute("UPDATE refreshes SET started = ?, ended = ?", [datetime.fromtimestamp(future, UTC)] * 2)
    os.utime(own.warehouse / "snapshots" / "000001", (future, future))
    assert build(own.archive, own.warehouse).changed == [group_id(A_MEM)]
    # Set back: a change whose time is before that of the version which was read.
    archive.write(changed, [prediction("NFCats", 3, "From the past.")])
    os.utime(changed, (1, 1))
    assert build(own.archive, own.warehouse).changed == [group_id(A_MEM)]
    current = Warehouse(own.warehouse).current()
    assert current is not None and current.path.name == "000003"
    assert leftovers(own.warehouse) == []
    with duckdb.connect(str(own.warehouse / "memorybench.duckdb"), read_only=True) as connection:
        answers = connection.execute("SELECT response FROM predictions WHERE baseline = 'a_mem'").fetchall()
        assert answers == [("From the past.",)]
    for command in (["status"], ["verify"], ["table", "revision_changes"]):
        ended = run(injected(["count", "change"], [*command, "--warehouse", str(own.warehouse)]))
        assert "Traceback" not in ended.stderr
        assert ended.returncode in (0, 3), ended.stderr
