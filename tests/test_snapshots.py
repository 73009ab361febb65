"""Publication: what is rewritten, what readers see, and what a kill leaves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

from pipelines.archive.local import LocalSource
from pipelines.config import BuildOptions
from pipelines.errors import SourceError, UsageError, WarehouseError, WarehouseLocked
from pipelines.load.lock import warehouse_lock
from pipelines.load.snapshots import Warehouse
from pipelines.refresh import RefreshRun
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, build, folder, prediction
from tests.warehouse_content import content, inodes

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture
def archive(tmp_path: Path) -> HandmadeArchive:
    archive = HandmadeArchive(tmp_path / "archive")
    for keys in (A_MEM, WO_MEMORY, MEM0):
        archive.add(keys)
    return archive


def test_an_unchanged_archive_publishes_nothing_new(archive: HandmadeArchive, tmp_path: Path) -> None:
    build(archive.root, tmp_path / "warehouse")
    before = os.readlink(tmp_path / "warehouse" / "current")
    report = build(archive.root, tmp_path / "warehouse")
    assert report.published is None
    assert report.bytes_read == 0
    assert os.readlink(tmp_path / "warehouse" / "current") == before
    assert len(list((tmp_path / "warehouse" / "snapshots").iterdir())) == 1


def test_a_file_that_was_touched_and_not_changed_is_read_and_publishes_nothing(
    archive: HandmadeArchive, tmp_path: Path
) -> None:
    build(archive.root, tmp_path / "warehouse")
    os.utime(archive.root / folder(A_MEM) / "predict.json", (1, 1))
    report = build(archive.root, tmp_path / "warehouse")
    assert report.published is None
    assert report.bytes_read > 0


def test_one_changed_file_rewrites_the_partitions_of_its_group_alone(archive: HandmadeArchive, tmp_path: Path) -> None:
    build(archive.root, tmp_path / "warehouse")
    before = inodes(tmp_path / "warehouse")
    archive.write(archive.root / folder(A_MEM) / "predict.json", [prediction("NFCats", 3, "Another answer.")])
    report = build(archive.root, tmp_path / "warehouse")
    after = inodes(tmp_path / "warehouse")
    assert report.changed == ["/".join(A_MEM)]
    rewritten = {path for path in after if before.get(path) != after[path]}
    assert rewritten
    assert all(path.endswith("baseline=a_mem/part-0.parquet") for path in rewritten)
    linked = after.keys() - rewritten
    assert len(linked) == len(before) * 2 // 3


def test_a_group_that_is_gone_leaves_all_tables(archive: HandmadeArchive, tmp_path: Path) -> None:
    build(archive.root, tmp_path / "warehouse")
    shutil.rmtree(archive.root / folder(MEM0))
    archive.lines.pop()
    archive.write_manifest()
    report = build(archive.root, tmp_path / "warehouse")
    assert report.removed == ["/".join(MEM0)]
    with duckdb.connect(str(tmp_path / "warehouse" / "memorybench.duckdb"), read_only=True) as connection:
        for table in ("result_groups", "predictions", "sample_metrics", "run_configs"):
            assert connection.execute(f"SELECT count(*) FROM {table} WHERE baseline = 'mem0'").fetchone() == (0,)
        history = connection.execute("SELECT refresh_id, groups_added, groups_removed FROM refreshes").fetchall()
    assert history == [(1, 3, 0), (2, 0, 1)]


def test_a_refreshed_warehouse_equals_one_built_anew(archive: HandmadeArchive, tmp_path: Path) -> None:
    build(archive.root, tmp_path / "refreshed")
    archive.write(archive.root / folder(A_MEM) / "summary.json", {"summary": {"z_score": 1.5}})
    archive.add(("off-policy", "Qwen3-8B", "domain", "Legal", "bm25_message"))
    build(archive.root, tmp_path / "refreshed")
    build(archive.root, tmp_path / "anew")
    assert content(tmp_path / "refreshed") == content(tmp_path / "anew")


def test_a_full_build_reads_everything_again_and_keeps_first_revisions(
    archive: HandmadeArchive, tmp_path: Path
) -> None:
    first = build(archive.root, tmp_path / "warehouse")
    archive.add(("off-policy", "Qwen3-8B", "domain", "Legal", "bm25_message"))
    second = build(archive.root, tmp_path / "warehouse")
    full = build(archive.root, tmp_path / "warehouse", full=True)
    assert full.bytes_read > 0
    assert full.published is not None
    with duckdb.connect(str(tmp_path / "warehouse" / "memorybench.duckdb"), read_only=True) as connection:
        rows = dict(connection.execute("SELECT baseline, first_revision FROM result_groups").fetchall())
    assert rows == {
        "a_mem": first.revision,
        "wo_memory": first.revision,
        "mem0": first.revision,
        "bm25_message": second.revision,
    }


def test_a_selection_refreshes_its_groups_and_leaves_the_others(archive: HandmadeArchive, tmp_path: Path) -> None:
    build(archive.root, tmp_path / "warehouse")
    for keys in (A_MEM, WO_MEMORY):
        archive.write(archive.root / folder(keys) / "predict.json", [prediction("NFCats", 3)])
    report = build(archive.root, tmp_path / "warehouse", select=(("baseline", "a_mem"),))
    assert report.changed == ["/".join(A_MEM)]
    rest = build(archive.root, tmp_path / "warehouse")
    assert rest.changed == ["/".join(WO_MEMORY)]


def test_a_connection_that_is_open_during_refreshes_keeps_answering(archive: HandmadeArchive, tmp_path: Path) -> None:
    build(archive.root, tmp_path / "warehouse")
    with duckdb.connect(str(tmp_path / "warehouse" / "memorybench.duckdb"), read_only=True) as connection:
        query = "SELECT count(*), sum(length(response)) FROM predictions"
        before = connection.execute(query).fetchall()
        for number in range(3):
            rows = [prediction("NFCats", 3, f"Answer {number}.")]
            archive.write(archive.root / folder(A_MEM) / "predict.json", rows)
            build(archive.root, tmp_path / "warehouse")
            assert connection.execute(query).fetchall() == before
    assert len(list((tmp_path / "warehouse" / "snapshots").iterdir())) == 2


@pytest.mark.parametrize(
    "step",
    [
        "load",
        *(pytest.param(step, marks=pytest.mark.full) for step in ("assemble", "build_database", "validate", "publish")),
        "rename",
    ],
)
def test_a_kill_after_any_step_leaves_the_old_warehouse_and_the_next_build_repairs(
    archive: HandmadeArchive, tmp_path: Path, step: str
) -> None:
    warehouse = tmp_path / "warehouse"
    build(archive.root, warehouse)
    before = content(warehouse)
    archive.write(archive.root / folder(A_MEM) / "predict.json", [prediction("NFCats", 3, "Another answer.")])
    script = textwrap.dedent(
        f"""
        import os, signal
        from pathlib import Path
        import pipelines.load.snapshots as snapshots
        from pipelines.refresh import RefreshRun
        from tests.handmade import build

        def kill(*_):
            os.kill(os.getpid(), signal.SIGKILL)

        step = {step!r}
        if step == "publish":
            snapshots.os.rename = kill
        elif step == "rename":
            snapshots._replace_link = kill
        else:
            done = getattr(RefreshRun, step)
            setattr(RefreshRun, step, lambda run: (done(run), kill()))
        build(Path({str(archive.root)!r}), Path({str(warehouse)!r}))
        """
    )
    killed = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert killed.returncode == -9, killed.stderr
    assert content(warehouse) == before
    report = build(archive.root, warehouse)
    assert report.changed == ["/".join(A_MEM)]
    assert content(warehouse) != before
    assert sorted(path.name for path in (warehouse / "snapshots").iterdir()) == ["000001", "000002"]
    assert not (warehouse / ".lock").exists()


def test_a_failure_in_any_step_leaves_nothing_behind(
    archive: HandmadeArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: RefreshRun) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(RefreshRun, "publish", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        build(archive.root, tmp_path / "warehouse")
    assert list((tmp_path / "warehouse" / "snapshots").iterdir()) == []
    assert not (tmp_path / "warehouse" / ".lock").exists()


def test_a_second_build_stops_at_once_and_says_who_holds_the_lock(archive: HandmadeArchive, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.create()
    with (
        warehouse_lock(warehouse.root),
        pytest.raises(WarehouseLocked, match=f"is being built by process {os.getpid()} on"),
    ):
        build(archive.root, warehouse.root)
    assert build(archive.root, warehouse.root).published is not None


@pytest.mark.parametrize("place", ["parquet/mine", "current/mine", "snapshots/holiday/mine", "snapshots/mine"])
def test_a_folder_with_other_things_of_our_names_is_refused(
    archive: HandmadeArchive, tmp_path: Path, place: str
) -> None:
    mine = tmp_path / "warehouse" / place
    mine.parent.mkdir(parents=True)
    mine.write_text("precious")
    with pytest.raises(WarehouseError, match="is in the way and was not made by this program"):
        build(archive.root, tmp_path / "warehouse")
    assert mine.read_text() == "precious"


def test_snapshots_that_are_a_link_are_refused(archive: HandmadeArchive, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "000001").mkdir(parents=True)
    (tmp_path / "warehouse").mkdir()
    (tmp_path / "warehouse" / "snapshots").symlink_to("../elsewhere")
    with pytest.raises(WarehouseError, match="snapshots is in the way"):
        build(archive.root, tmp_path / "warehouse")
    assert (tmp_path / "elsewhere" / "000001").is_dir()


def test_other_files_in_the_folder_stay(archive: HandmadeArchive, tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir()
    for name in (".draft.new", "notes.txt"):
        (tmp_path / "warehouse" / name).write_text("precious")
    build(archive.root, tmp_path / "warehouse")
    for name in (".draft.new", "notes.txt"):
        assert (tmp_path / "warehouse" / name).read_text() == "precious"


@pytest.mark.parametrize("name", ["w[1]", "w?", "w*"])
def test_a_path_that_duckdb_takes_for_a_pattern_is_refused(archive: HandmadeArchive, tmp_path: Path, name: str) -> None:
    with pytest.raises(WarehouseError, match="in a path for a pattern"):
        build(archive.root, tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("dangling", [False, True], ids=["no link", "a link to nothing"])
def test_the_newest_whole_snapshot_is_published_again_where_the_link_is_lost(
    archive: HandmadeArchive, tmp_path: Path, dangling: bool
) -> None:
    root = tmp_path / "warehouse"
    for index in (3, 4):
        archive.write(archive.root / folder(A_MEM) / "predict.json", [prediction("NFCats", index, "An answer.")])
        build(archive.root, root)
    before = content(root)
    (root / "current").unlink()
    if dangling:
        (root / "current").symlink_to("snapshots/000009")
    (root / "snapshots" / "000003").mkdir()  # what is left of a third
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError):
        build(tmp_path / "empty", root)
    assert content(root) == before
    assert build(archive.root, root).published is None
    assert sorted(path.name for path in (root / "snapshots").iterdir()) == ["000001", "000002"]


def test_a_selection_of_nothing_is_an_error(archive: HandmadeArchive, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no group of .* has baseline=a_mm"):
        build(archive.root, tmp_path / "warehouse", select=(("baseline", "a_mm"),))


def test_the_same_rows_come_from_one_process_and_from_two(generated_archive: Path, tmp_path: Path) -> None:
    from pipelines.refresh import refresh

    for jobs in (1, 2):
        refresh(LocalSource(generated_archive), Warehouse(tmp_path / str(jobs)), BuildOptions(jobs=jobs))
    assert content(tmp_path / "1") == content(tmp_path / "2")
    one, two = (
        {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*.parquet")) if "refreshes" not in str(p)}
        for root in (tmp_path / "1" / "parquet", tmp_path / "2" / "parquet")
    )
    assert one == two


def test_a_group_whose_files_are_replaced_by_the_same_content_is_unchanged(
    archive: HandmadeArchive, tmp_path: Path
) -> None:
    build(archive.root, tmp_path / "warehouse")
    shutil.copytree(archive.root, tmp_path / "copy")
    shutil.rmtree(archive.root)
    shutil.move(tmp_path / "copy", archive.root)
    assert build(archive.root, tmp_path / "warehouse").published is None
