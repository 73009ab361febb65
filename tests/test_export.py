"""mbw export: a snapshot that stands alone, whole or not at all, and says what it is."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

from pipelines.cli import main
from pipelines.commands.arguments import DONE, FAILED, USAGE
from pipelines.errors import MemoryBenchWarehouseError, UsageError
from pipelines.export import files, s3, snapshot
from pipelines.export.layout import LEFT_OUT_VIEWS, ExportOptions
from pipelines.load.views import literal, quoted
from schemas import TABLES
from schemas.model import Table
from tests.conftest import leave_out_checks
from tests.consumers import ODD_KEYS, all_tables, checksums, declared_source, plain
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, build, group_files, prediction

#: How a value of each kind is read from CSV; text stands as it is.
CSV_READERS: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "number": float,
    "boolean": {"true": True, "false": False}.__getitem__,
    "messages": json.loads,
    "timestamp": lambda text: datetime.fromisoformat(text).astimezone(UTC).isoformat(),
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few groups with odd keys and texts, without the help of any archive."""
    root = tmp_path_factory.mktemp("export")
    archive = HandmadeArchive(root / "archive")
    for number, keys in enumerate((*ODD_KEYS, A_MEM, WO_MEMORY)):
        source = archive.add(keys, relative_dir=f"group/{number}")
        shutil.move(source, root / "archive" / "group" / str(number))
    texts = [prediction("NFCats", 0, "a\0b"), prediction("NFCats", 1, ""), prediction("NFCats", 2, "🙂 \r\n\t\"',")]
    texts[1]["messages"] = []
    texts[2]["messages"] = None
    evaluations = [
        {"test_idx": i, "metrics": {"score": score}, "dataset": "NFCats"}
        for i, score in enumerate((1, None, float("nan")))
    ]
    archive.add(MEM0, group_files(predict=texts, evaluate_details=evaluations, summary=None))
    with pytest.MonkeyPatch.context() as patch:
        leave_out_checks(patch)
        build(archive.root, root / "warehouse")
    return root / "warehouse"


@pytest.fixture(scope="module")
def exported(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An export of each kind, prompts included."""
    root = tmp_path_factory.mktemp("exported")
    kinds = {
        "parquet": ExportOptions("parquet", prompts=True),
        "partitioned": ExportOptions("parquet", prompts=True, partitioned=True),
        "csv": ExportOptions("csv", prompts=True),
        "duckdb": ExportOptions("duckdb", prompts=True),
    }
    for name, options in kinds.items():
        snapshot.export_folder(warehouse, root / name, options)
    return {name: root / name for name in kinds}


def in_warehouse(warehouse: Path, table: Table) -> pa.Table:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.sql(f"FROM {declared_source(warehouse / 'parquet', table)}").to_arrow_table()


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_a_parquet_export_has_every_row_with_the_keys_inside(
    warehouse: Path, exported: dict[str, Path], table: Table
) -> None:
    rows = pq.ParquetFile(exported["parquet"] / "data" / table.name / "part-00000.parquet").read()
    assert checksums(rows, table) == checksums(in_warehouse(warehouse, table), table)
    assert rows.schema.equals(files.exported_schema(table))


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_a_partitioned_export_has_every_row(warehouse: Path, exported: dict[str, Path], table: Table) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        rows = connection.sql(f"FROM {declared_source(exported['partitioned'] / 'data', table)}").to_arrow_table()
    assert checksums(rows, table) == checksums(in_warehouse(warehouse, table), table)


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_a_csv_export_has_every_row_and_tells_null_from_empty(
    warehouse: Path, exported: dict[str, Path], table: Table
) -> None:
    expected = in_warehouse(warehouse, table)
    path = exported["csv"] / "data" / table.name / f"{table.name}.csv"
    with duckdb.connect() as connection:
        rows = connection.sql(
            f"FROM read_csv({literal(str(path))}, header=true, all_varchar=true, nullstr='', allow_quoted_nulls=false, "
            "quote='\"', escape='\"', delim=',', strict_mode=true)"
        ).to_arrow_table()
    assert rows.column_names == expected.column_names
    assert rows.num_rows == expected.num_rows
    for column in table.database_columns:
        read = CSV_READERS.get(column.kind, str)
        found = [None if text is None else read(text) for text in rows[column.name].to_pylist()]
        values = [plain(value) for value in expected[column.name].to_pylist()]
        assert sorted(map(repr, found)) == sorted(map(repr, values)), column.name


def test_a_duckdb_export_holds_tables_views_and_prompts(warehouse: Path, exported: dict[str, Path]) -> None:
    with duckdb.connect(str(exported["duckdb"] / "memorybench.duckdb"), read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for table in TABLES.values():
            rows = connection.sql(f"FROM {quoted(table.name)}").to_arrow_table()
            assert checksums(rows, table) == checksums(in_warehouse(warehouse, table), table)
        assert connection.sql("FROM results").fetchall()


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_standard_result_tables_are_exported_as_the_database_has_them(
    warehouse: Path, exported: dict[str, Path], kind: str
) -> None:
    described = json.loads((exported[kind] / "schema.json").read_text())
    views = [name for name, entry in described.items() if entry["kind"] == "view"]
    assert {"results", "leaderboard", "memory_gain", "coverage", "summary_table_z_score"} <= set(views)
    assert not set(LEFT_OUT_VIEWS) & set(views)
    with duckdb.connect(str(warehouse / "memorybench.duckdb"), read_only=True) as database:
        for view in views:
            file = next((exported[kind] / "data" / view).iterdir())
            expected = database.sql(f"FROM {quoted(view)} ORDER BY ALL").to_arrow_table()
            assert [column["name"] for column in described[view]["columns"]] == expected.column_names
            if kind == "parquet":
                assert pq.ParquetFile(file).read().to_pylist() == expected.to_pylist()
            else:
                with open(file, encoding="utf-8", newline="") as stream:
                    assert len(list(csv.reader(stream))) == expected.num_rows + 1


@pytest.mark.parametrize("kind", ["parquet", "partitioned", "csv", "duckdb"])
def test_an_export_says_what_it_is(warehouse: Path, exported: dict[str, Path], kind: str) -> None:
    folder = exported[kind]
    manifest = json.loads((folder / "snapshot.json").read_text())
    info = json.loads((warehouse / "current" / "snapshot.json").read_text())
    assert (manifest["source"], manifest["revision"]) == (info["source"], info["revision"])
    listed = {file["path"]: file for file in manifest["files"]}
    present = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert present - set(listed) == {"snapshot.json", "SHA256SUMS"}
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, path = line.split("  ", 1)
        assert hashlib.sha256((folder / path).read_bytes()).hexdigest() == digest == listed.pop(path)["sha256"]
    assert not listed
    card = (folder / "README.md").read_text()
    assert card.startswith("---\nlicense: mit\n")
    assert "@inproceedings{memorybench2026" in card and manifest["revision"] in card
    assert ("config_name: results" in card) == (kind in ("parquet", "csv"))


def test_prompts_are_left_out_unless_asked_for(warehouse: Path, tmp_path: Path) -> None:
    manifest = snapshot.export_folder(warehouse, tmp_path / "out", ExportOptions())
    assert "prompts" not in manifest["rows"]
    assert not (tmp_path / "out" / "data" / "prompts").exists()
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o777 & ~snapshot._umask()


def test_a_large_table_goes_on_in_further_files(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ROW_GROUP_ROWS", 5)
    monkeypatch.setattr(files, "FILE_BYTES", 1)
    snapshot.export_folder(warehouse, tmp_path / "out", ExportOptions())
    table = TABLES["predictions"]
    parts = sorted((tmp_path / "out" / "data" / "predictions").iterdir())
    assert len(parts) > 2
    rows = pa.concat_tables(pq.ParquetFile(part).read() for part in parts)
    assert checksums(rows, table) == checksums(in_warehouse(warehouse, table), table)


def test_a_folder_with_something_in_it_is_refused(
    warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def export(*arguments: object, root: Path = warehouse) -> tuple[int, str, str]:
        status = main(["export", *map(str, arguments), "--warehouse", str(root)])
        return (status, *capsys.readouterr())

    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("keep")
    status, _, message = export(tmp_path / "full")
    assert status == USAGE and "not an empty folder" in message
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["full", "mine"]
    status, _, message = export(warehouse / "snapshots" / "x")
    assert status == USAGE and "inside of the warehouse" in message
    assert export("ftp://x/y")[0] == USAGE
    assert export(tmp_path / "n", "--format", "csv", "--partitioned")[0] == USAGE
    assert export(tmp_path / "n", root=tmp_path / "none")[0] == FAILED
    assert not (tmp_path / "n").exists()
    (tmp_path / "empty").mkdir()
    status, result, message = export(tmp_path / "empty", "--json")
    assert status == DONE, message
    assert json.loads(result)["groups"] == len(ODD_KEYS) + 3


def test_the_folder_that_one_is_in_is_not_replaced(
    warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    for target, reason in ((".", "you are in it"), (tmp_path / "mine", "you are in it"), ("..", "not an empty folder")):
        assert main(["export", str(target), "--warehouse", str(warehouse)]) == USAGE
        assert reason in capsys.readouterr().err
    assert list(Path.cwd().iterdir()) == []
    assert main(["export", "inside", "--warehouse", str(warehouse)]) == DONE


def test_an_export_that_fails_leaves_nothing(warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshot, "write_parquet", fail)
    with pytest.raises(MemoryBenchWarehouseError, match="Nothing was exported"):
        snapshot.export_folder(warehouse, tmp_path / "out", ExportOptions())
    assert not list(tmp_path.iterdir())


# Object stores; tests/test_object_store.py has them against a real server.


class NotingStore:
    """A folder as a store, which notes the order of what is written and cuts the connection at a given write."""

    def __init__(self, root: Path) -> None:
        self._files = pyarrow.fs.SubTreeFileSystem(str(root), pyarrow.fs.LocalFileSystem())
        self.written: list[str] = []
        self.fail_at = 0

    def open_output_stream(self, path: str) -> Any:
        self.written.append(path)
        if len(self.written) == self.fail_at:
            raise OSError("the connection was cut")
        self._files.create_dir(os.path.dirname(path), recursive=True)
        return self._files.open_output_stream(path)

    def get_file_info(self, selector: pyarrow.fs.FileSelector) -> Any:
        return self._files.get_file_info(selector)


def test_nothing_names_a_snapshot_before_all_of_it_is_there(exported: dict[str, Path], tmp_path: Path) -> None:
    store = NotingStore(tmp_path)
    s3.publish(store, "b/r", exported["parquet"], "one")
    total = len(store.written)
    assert store.written[-2:] == ["b/r/snapshots/one/snapshot.json", "b/r/latest.json"]
    assert all(path.startswith("b/r/snapshots/one/") for path in store.written[:-1])
    for fail_at in (1, total // 2, total - 1, total):
        store.written.clear()
        store.fail_at = fail_at
        with pytest.raises(OSError, match="cut"):
            s3.publish(store, "b/r", exported["parquet"], f"failed-{fail_at}")
        assert json.loads((tmp_path / "b/r/latest.json").read_text())["snapshot"] == "snapshots/one"


def test_a_snapshot_that_arrived_otherwise_than_sent_is_not_named(exported: dict[str, Path], tmp_path: Path) -> None:
    class Losing(NotingStore):
        def get_file_info(self, selector: pyarrow.fs.FileSelector) -> Any:
            return super().get_file_info(selector)[1:]

    with pytest.raises(OSError, match="None bytes there"):
        s3.publish(Losing(tmp_path), "b/r", exported["csv"], "one")
    assert not (tmp_path / "b/r/latest.json").exists()


@pytest.mark.parametrize("url", ["s3://", "s3:///path", "s3://bucket?x=1", "bucket/path"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="s3://BUCKET/PREFIX"):
        s3.open_s3(url)
