"""Verifying a finished warehouse: every check is counted, what was tampered with is found, nothing is changed."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.archive.local import LocalSource
from pipelines.errors import WarehouseError
from pipelines.findings import Finding
from pipelines.load.snapshots import Warehouse
from pipelines.quality.validation import write_data_docs
from pipelines.quality.verify import verify
from pipelines.quality.verify_report import CheckLine, GroupLine, VerifyReport
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, Keys, build, folder, group_id
from tests.reconciled import nfcats_files, reconciled_files


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> HandmadeArchive:
    archive = HandmadeArchive(tmp_path_factory.mktemp("verify") / "archive")
    for keys in (A_MEM, WO_MEMORY):
        archive.add(keys, reconciled_files(keys))
    return archive


@pytest.fixture(scope="module")
def built(archive: HandmadeArchive) -> Path:
    warehouse = archive.root.parent / "warehouse"
    build(archive.root, warehouse)
    return warehouse


@pytest.fixture
def warehouse(built: Path, tmp_path: Path) -> Warehouse:
    """A copy, to be tampered with."""
    shutil.copytree(built, tmp_path / "warehouse", symlinks=True)
    return Warehouse(tmp_path / "warehouse")


def line(report: VerifyReport, check: str) -> CheckLine:
    (found,) = [line for line in report.checks if line.check == check]
    return found


def partition(warehouse: Warehouse, table: str) -> Path:
    (path,) = (warehouse.parquet / table).rglob("baseline=a_mem/*.parquet")
    return path


def rewrite(path: Path, rows: pa.Table) -> None:
    path.unlink()  # another snapshot may share the file
    pq.write_table(rows, path)


def test_a_good_warehouse_passes_every_check(warehouse: Warehouse) -> None:
    before = {path: path.stat().st_mtime_ns for path in warehouse.root.rglob("*") if path.is_file()}
    report = verify(warehouse)
    assert report.findings == [] and not report.failed
    assert [line.check for line in report.checks if line.status != "passed"] == []
    assert (line(report, "round_trip").passed, line(report, "round_trip").unit) == (8, "files")
    assert line(report, "reconcile_scores").passed == 6
    assert {path: path.stat().st_mtime_ns for path in warehouse.root.rglob("*") if path.is_file()} == before


OPEN: Keys = (*A_MEM[:4], "open")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> HandmadeArchive:
    """A group whose scores are not the metric, one that cannot be checked, one that is bad and one that is good."""
    archive = HandmadeArchive(tmp_path_factory.mktemp("faulty") / "archive")
    archive.add(A_MEM, nfcats_files(A_MEM, [4, 3], [4, 2]))
    files = reconciled_files(OPEN, summary={"summary": {"average": 0.5}})
    files["run_config.json"] = b'{"threads":4}'  # another layout than the publisher's
    archive.add(OPEN, files)
    archive.add(MEM0, reconciled_files(MEM0, predict=b"[{]", summary=None))
    archive.add(WO_MEMORY, reconciled_files(WO_MEMORY))
    build(archive.root, archive.root.parent / "warehouse")
    return archive


@pytest.fixture(scope="module")
def report(faulty: HandmadeArchive) -> VerifyReport:
    return verify(Warehouse(faulty.root.parent / "warehouse"))


def test_the_report_is_json_for_machines(report: VerifyReport) -> None:
    as_json = json.loads(json.dumps(report.as_dict()))
    assert as_json["failed"] is report.failed is True
    assert as_json["groups"] == [
        {"group_id": group_id(A_MEM), "failed": {"reconcile_scores": 1}, "unchecked": {}, "severity": "error"},
        {
            "group_id": group_id(OPEN),
            "failed": {},
            "unchecked": {"reconcile_summary": 1, "round_trip": 1},
            "severity": None,
        },
        {"group_id": group_id(MEM0), "failed": {"groups_loaded": 1}, "unchecked": {}, "severity": "error"},
    ]


def test_the_report_is_a_table_for_people(report: VerifyReport) -> None:
    text = report.as_text().splitlines()
    assert text[0].split() == ["check", "of", "passed", "failed", "cannot", "be", "checked", "result"]
    rows = {row.split()[0]: row.split()[1:] for row in text if row}
    assert rows["reconcile_scores"] == ["published", "numbers", "4", "1", "0", "FAILED"]
    assert rows["groups_loaded"] == ["groups", "3", "1", "0", "FAILED"]
    assert f"{group_id(A_MEM)}  reconcile_scores (1)" in [" ".join(row.split()).replace(" ", "  ", 1) for row in text]
    place = f"{folder(A_MEM)}/summary.json"
    assert any(row.startswith(f"error: reconcile_scores: {place}: 1 of 2 published scores") for row in text)


def test_what_many_groups_have_does_not_hide_what_one_has() -> None:
    """Of eleven groups ten are shown: the first of each check first, then the others in their order."""
    common = [GroupLine(f"common {n}", {"score_range": 1}, severity="warning") for n in range(9)]
    both = GroupLine("both", {"score_range": 2, "invalid_group": 1}, severity="warning")
    rare = GroupLine("rare", {"published_mean": 1}, severity="warning")
    text = VerifyReport("w", "r", [], [*common, both, rare], []).as_text().splitlines()
    start = next(i for i, row in enumerate(text) if row.startswith("group "))
    shown = [row.split("  ")[0] for row in text[start + 1 : start + 11]]
    assert shown == ["common 0", "both", "rare", *(f"common {n}" for n in range(1, 8))]
    assert text[start + 11] == "… and 1 more group (--json has all)"
    more = VerifyReport("w", "r", [], [*common, *common], []).as_text()
    assert more.endswith("… and 8 more groups (--json has all)")


def test_what_cannot_be_checked_is_neither_passed_nor_failed(report: VerifyReport, faulty: HandmadeArchive) -> None:
    summary, files = line(report, "reconcile_summary"), line(report, "round_trip")
    assert (summary.passed, summary.failed, summary.unchecked) == (6, 0, 1)
    assert (files.passed, files.failed, files.unchecked) == (11, 0, 1)
    assert [f.message for f in report.findings if f.check == "round_trip"] == [
        "round_trip cannot be checked for 1 files: its layout is not the publisher's, and no source is at hand"
    ]
    with_source = verify(Warehouse(faulty.root.parent / "warehouse"), lambda: nullcontext(LocalSource(faulty.root)))
    assert line(with_source, "round_trip").passed == 12


def test_what_was_tampered_with_is_found(archive: HandmadeArchive, warehouse: Warehouse) -> None:
    """A response changed in Parquet, a column dropped there, and rows deleted from the database."""
    path = partition(warehouse, "predictions")
    rows = pq.ParquetFile(path).read()
    place = rows.column_names.index("response")
    changed = pa.array(["tampered", *rows.column("response").to_pylist()[1:]])
    rewrite(path, rows.set_column(place, rows.schema.field("response"), changed))
    path = partition(warehouse, "sample_scores")
    rewrite(path, pq.ParquetFile(path).read().drop_columns(["failed"]))
    with duckdb.connect(str(warehouse.database)) as connection:
        connection.execute("DELETE FROM summary_metrics WHERE metric = 'z_score'")
    report = verify(warehouse, lambda: nullcontext(LocalSource(archive.root)))
    assert report.failed
    parquet = f"parquet/{path.relative_to(warehouse.parquet)}"
    assert report.findings == [
        Finding("parquet_rows", "error", "summary_metrics has 6 rows in Parquet and 4 in the database"),
        Finding("parquet_schema", "error", "the file's columns are not those that are declared", file=parquet),
        Finding(
            "round_trip",
            "error",
            "what the tables give back is not what is published",
            group_id=group_id(A_MEM),
            file=f"{folder(A_MEM)}/predict.json",
        ),
    ]


def test_without_a_warehouse_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="mbw build"):
        verify(Warehouse(tmp_path))


def test_a_broken_database_is_reported_as_such(warehouse: Warehouse) -> None:
    warehouse.database.resolve().write_bytes(b"not a database")
    with pytest.raises(WarehouseError, match="cannot be read"):
        verify(warehouse)


def test_data_docs_open_without_a_network(warehouse: Warehouse) -> None:
    index = write_data_docs(warehouse.require_current().path)
    assert index == warehouse.require_current().path / "quality" / "data_docs" / "index.html"
    pages = list(index.parent.rglob("*.html"))
    assert {"sample_metrics.html", "row_counts.html"} <= {page.name for page in pages}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for fetched in ('src="http', "src='http", 'rel="stylesheet" href="http', "url('http", 'url("http'):
            assert fetched not in text, f"{page.name} fetches from elsewhere"
