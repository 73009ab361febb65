"""A Parquet file that somebody deletes is said to be missing, and is there again after the next build."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.cli import main
from pipelines.commands.arguments import FAILED
from pipelines.errors import WarehouseError
from pipelines.load.snapshots import DATABASE
from schemas import TABLES
from tests.conftest import leave_out_checks
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, build, group_id
from tests.warehouse_content import content, inodes, partitions

#: Two of them in the fast tests: one that the database has not, and one that it has.
GROUPED = [
    pytest.param(table.name, marks=() if table.name in ("prompts", "sample_metrics") else pytest.mark.full)
    for table in TABLES.values()
    if table.grouped
]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    leave_out_checks(monkeypatch)
    archive = HandmadeArchive(tmp_path / "archive")
    for keys in (A_MEM, MEM0, WO_MEMORY):
        archive.add(keys)
    return archive.root


@pytest.fixture
def warehouse(archive: Path, tmp_path: Path) -> Path:
    build(archive, tmp_path / "warehouse")
    return tmp_path / "warehouse"


def delete(warehouse: Path, table: str) -> Path:
    """Delete the file of A_MEM in a table."""
    (path,) = (
        path for name, path in partitions(warehouse).items() if name.startswith(f"{table}/") and "=a_mem" in name
    )
    path.unlink()
    return path


@pytest.mark.parametrize("table", GROUPED)
def test_its_group_alone_is_loaded_again(archive: Path, warehouse: Path, table: str) -> None:
    before, files = content(warehouse), inodes(warehouse)
    delete(warehouse, table)
    report = build(archive, warehouse)
    assert report.repaired == [group_id(A_MEM)]
    assert content(warehouse) == before
    after = inodes(warehouse)
    assert after.keys() == files.keys()
    assert all("=a_mem" in name for name, inode in after.items() if inode != files[name])
    assert build(archive, warehouse).published is None


def test_a_selection_that_would_leave_it_out_is_refused(archive: Path, warehouse: Path) -> None:
    delete(warehouse, "prompts")
    with pytest.raises(WarehouseError, match=rf"lacks files of {group_id(A_MEM)}, .* Build without --select"):
        build(archive, warehouse, select=(("baseline", "mem0"),))
    assert build(archive, warehouse, select=(("baseline", "a_mem"),)).repaired == [group_id(A_MEM)]


def test_what_reads_it_says_so(warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = delete(warehouse, "prompts")
    place = ["--warehouse", str(warehouse)]
    for command in (
        ["query", "SELECT count(*) FROM prompts", *place],
        ["export", str(tmp_path / "export"), "--prompts", *place],
        ["report", *place, "--output", str(tmp_path / "report")],
    ):
        assert main(command) == FAILED, command
        assert f"{path.resolve()} is missing: someone has deleted it." in capsys.readouterr().err
    assert not (tmp_path / "export").exists()
    assert not (tmp_path / "report").exists()
    assert main(["query", "SELECT count(*) FROM predictions", *place]) == 0


def test_a_lost_database_is_made_anew_on_demand(archive: Path, warehouse: Path) -> None:
    before = content(warehouse)
    (warehouse / DATABASE).resolve().unlink()
    with pytest.raises(WarehouseError, match=rf"{DATABASE} cannot be opened: .*Build it again with --full"):
        build(archive, warehouse)
    build(archive, warehouse, full=True)
    assert content(warehouse) == before
