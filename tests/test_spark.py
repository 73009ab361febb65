"""Real Spark, in local mode and on a standalone cluster: tables and views read as DuckDB reads them, and the build."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from pipelines.commands.arguments import DONE, FAILED, NEEDS_ATTENTION, USAGE
from pipelines.export.layout import ExportOptions
from pipelines.export.snapshot import export_folder
from pipelines.load.views import list_views, quoted
from schemas import TABLES
from schemas.model import KEYS, Table
from tests.conftest import leave_out_checks
from tests.consumers import ODD_KEYS, all_tables, build_twice, checksums, declared_source, example, odd_archive
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, build, folder, group_id
from tests.warehouse_content import content

pytestmark = pytest.mark.full

if shutil.which("java") is None:
    pytest.skip("no java on the PATH", allow_module_level=True)
pytest.importorskip("pyspark", reason="pyspark is not installed; make test-full installs it")

from pipelines.spark import read_table, register_views  # noqa: E402

MBW = Path(sys.executable).parent / "mbw"
TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def warehouse(make_archive: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("spark")
    archive = odd_archive(root / "archive", make_archive("--traps", "--models", "1"))
    with pytest.MonkeyPatch.context() as patch:
        leave_out_checks(patch)
        build_twice(archive, root / "warehouse")
    return root / "warehouse"


@pytest.fixture(scope="module")
def database(warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(warehouse / "memorybench.duckdb"), read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One session for all tests of this file; starting the JVM is most of what they cost."""
    from pyspark.sql import SparkSession

    scratch = tmp_path_factory.mktemp("spark-local")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.files.openCostInBytes": "65536",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def registered(spark: Any, warehouse: Path) -> list[str]:
    names = register_views(spark, warehouse)
    for name in TABLES:  # each is read once, not once for every view over it
        spark.catalog.cacheTable(name)
    return names


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_every_column_of_a_table_has_the_checksum_that_duckdb_gives(
    spark: Any, registered: list[str], warehouse: Path, table: Table
) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        ours = connection.sql(f"FROM {declared_source(warehouse / 'parquet', table)}").to_arrow_table()
    theirs = spark.table(table.name).toArrow()
    assert theirs.column_names == [column.name for column in table.database_columns]
    assert checksums(theirs, table) == checksums(ours, table)
    assert ours.num_rows > 0


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_every_column_has_its_declared_type(spark: Any, registered: list[str], table: Table) -> None:
    found = spark.table(table.name).toArrow().schema
    for field in table.arrow_schema():
        got = found.field(field.name).type
        assert _loose(got) == _loose(field.type), field.name


def _loose(kind: pa.DataType) -> str:
    """A type without what Arrow versions spell differently: string sizes, names and nullability of list elements."""
    text = re.sub(r"large_|not null|\belement\b|\bitem\b", "", str(kind))
    return re.sub(r"timestamp\[us, tz=[^\]]+\]", "timestamp", text).replace(" ", "")


@pytest.mark.parametrize("table", [t for t in all_tables() if t.grouped], ids=lambda table: table.name)
def test_keys_come_back_as_published(spark: Any, registered: list[str], table: Table) -> None:
    rows = spark.table(table.name).select(*KEYS, "group_id").distinct().collect()
    found = {tuple(row[:5]) for row in rows}
    assert set(ODD_KEYS) <= found
    escaped = {tuple(key.replace("%", "%25").replace("/", "%2F") for key in row[:5]): row[5] for row in rows}
    assert all("/".join(keys) == text for keys, text in escaped.items())


def test_spark_alone_garbles_keys_that_are_not_ascii_and_group_id_is_right(spark: Any, warehouse: Path) -> None:
    raw = spark.read.parquet(str((warehouse / "parquet" / "predictions").resolve()))
    rows = raw.where("group_id LIKE '%模型-8B%'").select("backbone", "group_id").distinct().collect()
    assert [row.group_id for row in rows] == ["/".join(ODD_KEYS[3])]
    assert rows[0].backbone == "模型-8B".encode().decode("latin-1")


@pytest.mark.parametrize("value", ["2024", "模型-8B"])
def test_a_filter_on_a_key_reads_the_files_of_that_key_alone(
    spark: Any, registered: list[str], warehouse: Path, value: str
) -> None:
    spark.catalog.uncacheTable("evaluations")
    rows = read_table(spark, warehouse, "evaluations").select("position", "backbone").where(f"backbone = '{value}'")
    assert len(rows.collect()) == 3
    scan = rows._jdf.queryExecution().executedPlan().collectLeaves().head()
    assert scan.metrics().apply("numFiles").value() == 1


def test_every_standard_view_is_registered(registered: list[str]) -> None:
    assert registered[: len(TABLES)] == list(TABLES)
    assert sorted(registered[len(TABLES) :]) == [view.name for view in list_views()]


@pytest.mark.parametrize("view", [view.name for view in list_views()])
def test_a_view_gives_the_rows_that_duckdb_gives(
    spark: Any, registered: list[str], database: duckdb.DuckDBPyConnection, view: str
) -> None:
    ours = database.sql(f"FROM {quoted(view)}").to_arrow_table()
    theirs = spark.table(view).toArrow()
    assert theirs.column_names == ours.column_names
    _assert_same_rows(theirs, ours)
    assert ours.num_rows > 0


def _assert_same_rows(found: pa.Table, expected: pa.Table) -> None:
    floats = [field.name for field in expected.schema if pa.types.is_floating(field.type)]
    exact = [name for name in expected.column_names if name not in floats]

    def ordered(rows: pa.Table) -> list[dict[str, Any]]:
        return sorted(rows.to_pylist(), key=lambda row: [repr(row[name]) for name in exact])

    assert found.num_rows == expected.num_rows
    for left, right in zip(ordered(found), ordered(expected), strict=True):
        assert [left[name] for name in exact] == [right[name] for name in exact]
        for name in floats:
            one, other = left[name], right[name]
            assert (one is None) == (other is None), (name, left, right)
            if one is not None and not (math.isnan(one) and math.isnan(other)):
                assert math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (name, left, right)


def test_the_example_of_the_page_on_readers_runs(spark: Any, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession

    class Running:
        """The session that is there, whatever the example asks for."""

        def master(self, _: str) -> Running:
            return self

        def getOrCreate(self) -> Any:
            return spark

    monkeypatch.chdir(warehouse.parent)
    monkeypatch.setattr(SparkSession, "builder", Running())
    names: dict[str, Any] = {}
    exec(example("Spark"), names)
    assert names["prompts"].columns == ["role", "content"]


@pytest.mark.parametrize("partitioned", [False, True], ids=["keys inside", "keys in paths"])
def test_an_export_reads_as_the_warehouse_does(spark: Any, warehouse: Path, tmp_path: Path, partitioned: bool) -> None:
    export_folder(warehouse, tmp_path / "out", ExportOptions(partitioned=partitioned))
    for name in ("sample_scores", "result_groups"):
        rows, table = read_table(spark, tmp_path / "out", name).toArrow(), TABLES[name]
        assert checksums(rows, table) == checksums(read_table(spark, warehouse, name).toArrow(), table)
    assert read_table(spark, tmp_path / "out", "prompts").count() == 0


def test_a_folder_without_tables_is_refused(spark: Any, tmp_path: Path) -> None:
    from pipelines.errors import WarehouseError

    with pytest.raises(WarehouseError, match="no Parquet tables"):
        read_table(spark, tmp_path, "predictions")


# The build


def mbw(*arguments: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [str(MBW), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=500)


@pytest.fixture(scope="module")
def bad_archive(make_archive: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of which two groups are bad, each in its way."""
    archive = odd_archive(tmp_path_factory.mktemp("bad") / "archive", make_archive("--traps", "--models", "1"))
    truncated = archive.root / folder(MEM0) / "predict.json"
    truncated.write_bytes(truncated.read_bytes()[:-20])
    (archive.root / "odd" / "1" / "evaluate_details.json").write_text("{}")
    return archive.root


@pytest.fixture(scope="module")
def local_build(bad_archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local") / "warehouse"
    report = build(bad_archive, folder, jobs=1)
    assert report.groups_by_status["quarantined"] == 2
    return folder


def assert_same_warehouse(found: Path, expected: Path) -> None:
    """The same rows in every table, findings included, and the same bytes in every partition."""
    assert content(found) == content(expected)
    assert _files(found) == _files(expected)


def _files(warehouse: Path) -> dict[str, bytes]:
    parquet = (warehouse / "parquet").resolve()
    paths = {str(path.relative_to(parquet)): path for path in parquet.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in paths.items() if not name.startswith("refreshes/")}


def test_a_build_on_local_spark_gives_what_a_local_build_gives(
    bad_archive: Path, local_build: Path, tmp_path: Path
) -> None:
    done = mbw("build", "--source", bad_archive, "--warehouse", tmp_path, "--engine", "spark", "--master", "local[2]")
    assert done.returncode == NEEDS_ATTENTION, done.stderr
    assert_same_warehouse(tmp_path, local_build)
    assert not list(tmp_path.glob("snapshots/*/attempts"))
    again = mbw("build", "--source", bad_archive, "--warehouse", tmp_path, "--engine", "spark", "--master", "local[2]")
    assert "unchanged, nothing to publish" in again.stdout


def test_a_refresh_on_spark_keeps_the_last_good_version_of_a_group_that_went_bad(
    tmp_path: Path, spark: Any, unchecked: None
) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    for keys in (A_MEM, WO_MEMORY):
        archive.add(keys)
    build(archive.root, tmp_path / "warehouse", engine="spark")
    archive.write(archive.root / folder(A_MEM) / "predict.json", b"[")
    archive.write(archive.root / folder(WO_MEMORY) / "run_config.json", {"retrieve_k": 9})
    report = build(archive.root, tmp_path / "warehouse", engine="spark")
    assert report.groups_by_status == {"stale": 1, "complete": 1}
    assert report.changed == [group_id(WO_MEMORY)]
    assert spark.range(3).count() == 3  # a session that was there before is left running


def test_an_executor_that_cannot_write_publishes_nothing(tmp_path: Path, spark: Any) -> None:
    from dataclasses import replace

    from pipelines.archive.local import LocalSource
    from pipelines.load.group_loader import LoadTask
    from pipelines.spark.engine import load_on_spark

    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM)
    (group,) = LocalSource(archive.root).list_groups().groups
    paths = {file.name: archive.root / file.path for file in group.files}
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    task = LoadTask(group, paths, blocked / "parquet")
    with pytest.raises(NotADirectoryError):
        list(load_on_spark(spark, iter([task])))
    (loaded,) = load_on_spark(spark, iter([replace(task, parquet_dir=tmp_path / "free" / "parquet")]))
    assert loaded.rows["predictions"] == 3


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[Path]]]:
    """A standalone master with two workers of one core each, on loopback: its address, and the workers' folders."""
    root = tmp_path_factory.mktemp("cluster")
    processes: list[subprocess.Popen[bytes]] = []
    try:
        log = root / "master.log"
        processes.append(_spark_class(log, "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"))
        address = _wait_for(log, processes[0], r"Starting Spark master at (spark://\S+)")
        folders = [root / f"worker-{number}" for number in range(2)]
        for place in folders:
            options = ("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--work-dir", str(place))
            worker_log = place.with_suffix(".log")
            processes.append(_spark_class(worker_log, "worker.Worker", *options, "--webui-port", "0", address))
            _wait_for(worker_log, processes[-1], r"(Successfully registered) with master")
        yield address, folders
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(timeout=60)


def _spark_class(log: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    levels = log.with_suffix(".properties")
    levels.write_text(
        "rootLogger.level = info\nrootLogger.appenderRef.c.ref = c\nappender.c.type = Console\nappender.c.name = c\n"
        "appender.c.target = SYSTEM_ERR\nappender.c.layout.type = PatternLayout\nappender.c.layout.pattern = %m%n\n"
    )
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": f"-Dlog4j2.configurationFile={levels.as_uri()}",
        "SPARK_NO_DAEMONIZE": "1",
    }
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    with open(log, "wb") as stream:  # spark-class becomes the JVM, so that this process is the one to end
        return subprocess.Popen(command, stdout=stream, stderr=stream, cwd=log.parent, env=environment)


def _wait_for(log: Path, process: subprocess.Popen[bytes], pattern: str) -> str:
    for _ in range(1200):
        found = re.search(pattern, log.read_text(errors="replace"))
        if found:
            return found[1]
        assert process.poll() is None, log.read_text(errors="replace")
        time.sleep(0.1)
    raise AssertionError(f"never said {pattern}: {log.read_text(errors='replace')}")


def test_a_build_on_a_standalone_cluster_gives_what_a_local_build_gives(
    cluster: tuple[str, list[Path]], bad_archive: Path, local_build: Path, tmp_path: Path
) -> None:
    master, folders = cluster
    options = ("--source", bad_archive, "--warehouse", tmp_path, "--engine", "spark", "--master", master)
    done = mbw("build", *options, env={"SPARK_LOCAL_IP": "127.0.0.1"})
    assert done.returncode == NEEDS_ATTENTION, done.stderr
    assert_same_warehouse(tmp_path, local_build)
    for place in folders:
        assert list(place.glob("app-*/*/stderr")), f"no executor ran in {place}"


def test_a_master_that_does_not_answer_fails_at_once_and_publishes_nothing(tmp_path: Path) -> None:
    options = ("--warehouse", tmp_path / "warehouse", "--engine", "spark")
    done = mbw("build", *options, "--master", "spark://127.0.0.1:1")
    assert done.returncode == FAILED
    assert "No Spark master answers at spark://127.0.0.1:1" in done.stderr
    assert not (tmp_path / "warehouse" / "current").exists()
    assert mbw("build", *options, "--master", "spark://nowhere").returncode == USAGE
    assert mbw("build", "--warehouse", tmp_path / "w", "--master", "local[2]").returncode == USAGE
    assert mbw("status", "--warehouse", tmp_path / "w").returncode == FAILED
    assert DONE == 0
