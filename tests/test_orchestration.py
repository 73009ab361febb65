"""The Dagster assets: what there is, and that a run builds what `mbw build` builds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from pipelines.archive.sources import open_source
from pipelines.config import BuildOptions
from pipelines.errors import PublicationBlocked, SourceError, WarehouseLocked
from pipelines.load.lock import warehouse_lock
from pipelines.load.snapshots import Warehouse
from pipelines.load.views import list_views
from pipelines.orchestration import faults
from pipelines.orchestration.checks import RESULT_GROUP, round_trip
from pipelines.orchestration.definitions import defs
from pipelines.orchestration.lineage import column_lineage, columns_of_relations
from pipelines.orchestration.partitions import chosen_partitions, existing, group_key, selection
from pipelines.refresh import refresh
from schemas import TABLES
from tests.conftest import ROOT
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, build, folder, group_files, group_id

#: The steps of a refresh without the many events of tables and views.
CORE = [dg.AssetKey("manifest"), RESULT_GROUP, dg.AssetKey("database")]
SNAPSHOT = Path(__file__).parent / "test_orchestration_assets.json"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """Dagster's state in a folder of the test's own."""
    home = tmp_path / "dagster"
    home.mkdir()
    with dg.DagsterInstance.local_temp(str(home), overrides={"telemetry": {"enabled": False}}) as made:
        yield made


@pytest.fixture
def archive(tmp_path: Path) -> HandmadeArchive:
    """Three small groups."""
    made = HandmadeArchive(tmp_path / "archive")
    for keys in (A_MEM, WO_MEMORY, MEM0):
        made.add(keys)
    return made


def config(source: Path | str, warehouse: Path, **build: Any) -> dict[str, Any]:
    return {
        "resources": {
            "source": {"config": {"address": str(source)}},
            "warehouse": {"config": {"path": str(warehouse)}},
            "build": {"config": {"jobs": 1, **build}},
        }
    }


def run(
    instance: dg.DagsterInstance,
    source: Path | str,
    warehouse: Path,
    job: str = "refresh",
    *,
    build: dict[str, Any] | None = None,
    **how: Any,
) -> dg.ExecuteInProcessResult:
    return defs.resolve_job_def(job).execute_in_process(
        instance=instance, run_config=config(source, warehouse, **(build or {})), raise_on_error=False, **how
    )


def core(instance: dg.DagsterInstance, source: Path | str, warehouse: Path, **how: Any) -> dg.ExecuteInProcessResult:
    return run(instance, source, warehouse, asset_selection=CORE, **how)


def built(instance: dg.DagsterInstance, archive: HandmadeArchive, warehouse: Path) -> None:
    """A warehouse to start from, made without Dagster, and its partitions."""
    report = build(archive.root, warehouse)
    instance.add_dynamic_partitions("result_groups", report.added)


def materialized(result: dg.ExecuteInProcessResult) -> set[tuple[str, str | None]]:
    events = [e for e in result.all_events if e.is_step_materialization]
    return {(e.asset_key.to_user_string(), e.partition) for e in events if e.asset_key}


def evaluations(result: dg.ExecuteInProcessResult) -> dict[tuple[str, str, str | None], dg.AssetCheckEvaluation]:
    found = [e.event_specific_data for e in result.all_events if e.event_type_value == "ASSET_CHECK_EVALUATION"]
    return {(e.asset_key.to_user_string(), e.check_name, e.partition): e for e in found}


def failure(result: dg.ExecuteInProcessResult) -> tuple[str, str]:
    """Step and text of the step that failed."""
    event = next(e for e in result.all_events if e.is_step_failure)
    data = event.step_failure_data
    described = data.user_failure_data.description if data.user_failure_data else None
    return str(event.step_key), described or data.error.to_string()


def contents(root: Path) -> dict[str, Any]:
    """Every table and view of a warehouse, provenance left out."""
    found: dict[str, Any] = {}
    with duckdb.connect(str((root / "memorybench.duckdb").resolve()), read_only=True) as connection:
        for table in TABLES.values():
            if table.in_database:
                columns = ", ".join(f'"{c.name}"' for c in table.database_columns if not c.provenance) or "count(*)"
                found[table.name] = connection.execute(f"SELECT {columns} FROM {table.name}").fetchall()
        views = connection.execute("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall()
        found["views"] = views
    prompts = ds.dataset(root / "parquet" / "prompts", partitioning="hive").to_table()
    found["prompts"] = prompts.sort_by([("group_id", "ascending"), ("dataset", "ascending"), ("test_idx", "ascending")])
    return found


class TestDefinitions:
    def test_load_and_validate_as_pyproject_names_them(self, tmp_path: Path) -> None:
        (tmp_path / "home").mkdir()
        command = [sys.executable, "-m", "dagster", "definitions", "validate"]
        environment = {"DAGSTER_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr

    def test_assets_checks_jobs_and_sensors_are_those_listed(self) -> None:
        """Write the list again with: python -m tests.test_orchestration"""
        assert inventory() == json.loads(SNAPSHOT.read_text())

    def test_every_asset_has_owner_group_kind_and_description(self) -> None:
        specs = defs.resolve_all_asset_specs()
        assert all(spec.owners and spec.kinds and spec.description and spec.group_name != "default" for spec in specs)

    def test_every_table_and_view_has_its_columns(self) -> None:
        by_key = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
        for table in TABLES.values():
            schema = by_key[table.name].metadata["dagster/column_schema"]
            assert [column.name for column in schema.columns] == [column.name for column in table.database_columns]
        for view in list_views():
            assert by_key[view.name].metadata["dagster/column_schema"].columns

    def test_lineage_leads_from_the_archive_to_each_view(self) -> None:
        graph = defs.resolve_asset_graph()
        for view in list_views():
            assert dg.AssetKey("manifest") in graph.get_ancestor_asset_keys(dg.AssetKey(view.name))

    def test_only_result_group_is_partitioned(self) -> None:
        specs = defs.resolve_all_asset_specs()
        assert [spec.key for spec in specs if spec.partitions_def] == [RESULT_GROUP]


class TestColumnLineage:
    def test_every_view_column_but_constants_comes_from_declared_columns(self) -> None:
        known = columns_of_relations(list_views(["a_mem"]))
        for lineage in column_lineage(("a_mem",)).values():
            assert lineage.deps_by_column
            for sources in lineage.deps_by_column.values():
                assert all(s.column_name in known[s.asset_key.to_user_string()] for s in sources)

    def test_a_column_of_a_baseline_comes_from_the_summary(self) -> None:
        lineage = column_lineage(("a_mem",))["summary_table_z_score"].deps_by_column
        assert ("summary_metrics", "value") in [
            (source.asset_key.to_user_string(), source.column_name) for source in lineage["a_mem"]
        ]


class TestRefresh:
    @pytest.mark.parametrize("where", ["a handful of groups", pytest.param("sample", marks=pytest.mark.full)])
    def test_builds_what_the_command_line_builds(
        self, instance: Any, archive: HandmadeArchive, tmp_path: Path, where: str
    ) -> None:
        address = where if where == "sample" else str(archive.root)
        with open_source(address) as source:
            refresh(source, Warehouse(tmp_path / "plain"), BuildOptions())
        result = run(instance, address, tmp_path / "dagster-built")
        assert result.success
        plain, built = contents(tmp_path / "plain"), contents(tmp_path / "dagster-built")
        assert plain.keys() == built.keys()
        for name, rows in plain.items():
            assert built[name] == rows, name
        groups = {row[5] for row in plain["result_groups"]}
        assert set(existing(instance)) == groups
        assert set(instance.get_materialized_partitions(RESULT_GROUP)) == groups
        keys = {spec.key.to_user_string() for spec in defs.resolve_all_asset_specs()}
        assert {key for key, _ in materialized(result)} == keys
        found = evaluations(result)
        assert not [key for key, evaluation in found.items() if evaluation.blocking and not evaluation.passed]
        invalid = {row[5] for row in plain["result_groups"] if "invalid" in row or "suspect" in row}
        assert {p for _, check, p in found if check == "validity" and p} == invalid

    @pytest.mark.usefixtures("unchecked")
    def test_figures_and_previews_go_with_each_materialization(
        self, instance: Any, archive: Any, tmp_path: Path
    ) -> None:
        assert run(instance, archive.root, tmp_path / "w").success
        table = instance.get_latest_materialization_event(dg.AssetKey("predictions")).asset_materialization.metadata
        assert table["dagster/row_count"].value == 9
        assert table["bytes"].value > 0
        assert table["revision"].value.startswith("content-")
        assert "| group_id |" in table["preview"].value or "group_id" in table["preview"].value
        assert table["seconds"].value >= 0
        view = instance.get_latest_materialization_event(dg.AssetKey("results")).asset_materialization.metadata
        assert view["dagster/row_count"].value == 3
        types = {column.name: column.type for column in view["dagster/column_schema"].schema.columns}
        assert types["weighted_average"] == "DOUBLE"
        assert view["dagster/column_lineage"].column_lineage.deps_by_column["weighted_average"]
        database = instance.get_latest_materialization_event(dg.AssetKey("database")).asset_materialization.metadata
        assert (database["groups_added"].value, database["refresh_id"].value) == (3, 1)

    @pytest.mark.usefixtures("unchecked")
    def test_an_unchanged_archive_publishes_nothing(self, instance: Any, archive: Any, tmp_path: Path) -> None:
        built(instance, archive, tmp_path / "w")
        result = core(instance, archive.root, tmp_path / "w")
        assert result.success
        assert Warehouse(tmp_path / "w").current().path.name == "000001"
        assert not {key for key in materialized(result) if key[1] is not None}

    @pytest.mark.usefixtures("unchecked")
    def test_a_changed_group_is_read_alone_and_a_new_one_gets_a_partition(
        self, instance: Any, archive: Any, tmp_path: Path
    ) -> None:
        built(instance, archive, tmp_path / "w")
        archive.write(archive.root / folder(A_MEM) / "run_config.json", {"memory_system": "a_mem", "retrieve_k": 7})
        new = (*MEM0[:4], "mem0_new")
        archive.add(new)
        result = core(instance, archive.root, tmp_path / "w")
        assert {p for key, p in materialized(result) if key == "result_group" and p} == {group_id(A_MEM), group_id(new)}
        assert group_id(new) in existing(instance)

    @pytest.mark.usefixtures("unchecked")
    def test_a_group_that_is_gone_loses_its_partition(self, instance: Any, archive: Any, tmp_path: Path) -> None:
        built(instance, archive, tmp_path / "w")
        archive.lines.pop()
        archive.write_manifest()
        assert core(instance, archive.root, tmp_path / "w").success
        assert sorted(existing(instance)) == sorted([group_id(A_MEM), group_id(WO_MEMORY)])

    @pytest.mark.usefixtures("unchecked")
    def test_a_bad_group_is_its_partitions_failed_check_and_all_else_is_published(
        self, instance: Any, archive: Any, tmp_path: Path
    ) -> None:
        archive.write(archive.root / folder(A_MEM) / "predict.json", b'[{"test_idx": 3')
        result = core(instance, archive.root, tmp_path / "w")
        assert result.success
        found = evaluations(result)
        bad = found["result_group", "input_contract", group_id(A_MEM)]
        assert not bad.passed
        assert "predict.json" in bad.description and "quarantined" in bad.description
        summary = found["result_group", "input_contract", None]
        assert not summary.passed and group_id(A_MEM) in summary.description
        assert ("result_group", group_id(A_MEM)) not in materialized(result)
        assert ("result_group", group_id(MEM0)) in materialized(result)
        with duckdb.connect(str((tmp_path / "w" / "memorybench.duckdb").resolve()), read_only=True) as connection:
            rows = connection.execute("SELECT group_id, status FROM result_groups").fetchall()
        assert dict(rows)[group_id(A_MEM)] == "quarantined"
        assert dict(rows)[group_id(MEM0)] == "complete"

        archive.write(archive.root / folder(A_MEM) / "predict.json", group_files()["predict.json"])
        mended = evaluations(core(instance, archive.root, tmp_path / "w"))
        assert mended["result_group", "input_contract", group_id(A_MEM)].passed
        assert mended["result_group", "input_contract", None].passed

    def test_a_blocking_check_leaves_the_old_warehouse_and_shows_as_failed(
        self, instance: Any, archive: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        built(instance, archive, tmp_path / "w")
        archive.add((*MEM0[:4], "mem0_new"))
        _break_a_table(monkeypatch)
        selected = [*CORE, dg.AssetKey("predictions")]
        result = run(instance, archive.root, tmp_path / "w", asset_selection=selected)
        assert not result.success
        step, text = failure(result)
        assert step == "tables"
        assert "nothing was published" in text
        key = dg.AssetCheckKey(dg.AssetKey("predictions"), "expectations")
        record = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
        check = record.event.dagster_event.event_specific_data
        assert not check.passed and check.blocking and check.severity == dg.AssetCheckSeverity.ERROR
        assert "identify a row of predictions" in check.description
        assert Warehouse(tmp_path / "w").current().path.name == "000001"
        assert [p.name for p in (tmp_path / "w" / "snapshots").iterdir()] == ["000001"]

    @pytest.mark.usefixtures("unchecked")
    def test_a_run_that_fails_midway_leaves_the_old_warehouse_and_no_lock(
        self, instance: Any, archive: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        built(instance, archive, tmp_path / "w")
        archive.add((*MEM0[:4], "mem0_new"))

        def full(*_: Any, **__: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("pipelines.load.database.build_database", full)
        assert not core(instance, archive.root, tmp_path / "w").success
        assert [p.name for p in (tmp_path / "w" / "snapshots").iterdir()] == ["000001"]
        assert not (tmp_path / "w" / ".lock").exists()


def _break_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row of predictions twice, as a bug of ours would have it."""
    from pipelines.load import database

    fill = database.fill_table

    def twice(connection: Any, table: Any, parquet_dir: Path) -> None:
        fill(connection, table, parquet_dir)
        if table.name == "predictions":
            fill(connection, table, parquet_dir)

    monkeypatch.setattr(database, "fill_table", twice)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.full
class TestSelections:
    def test_one_partition_is_read_again_and_published_by_itself(
        self, instance: Any, archive: Any, tmp_path: Path
    ) -> None:
        built(instance, archive, tmp_path / "w")
        archive.write(archive.root / folder(MEM0) / "run_config.json", {"retrieve_k": 9})
        key = group_id(A_MEM)
        result = run(instance, archive.root, tmp_path / "w", partition_key=key, asset_selection=[RESULT_GROUP])
        assert result.success
        assert materialized(result) == {("result_group", key)}
        assert Warehouse(tmp_path / "w").current().path.name == "000002"
        with duckdb.connect(str((tmp_path / "w" / "memorybench.duckdb").resolve()), read_only=True) as connection:
            changed = connection.execute("SELECT count(*) FROM run_configs WHERE retrieve_k = 9").fetchone()
        assert changed == (0,), "the other group stays as it was"

    def test_a_range_of_partitions_is_one_step_with_figures_for_each(
        self, instance: Any, archive: Any, tmp_path: Path
    ) -> None:
        built(instance, archive, tmp_path / "w")
        first, second, _ = existing(instance)
        tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": second}
        result = core(instance, archive.root, tmp_path / "w", tags=tags)
        assert result.success
        assert {p for key, p in materialized(result) if key == "result_group"} == {first, second}
        event = instance.get_latest_materialization_event(RESULT_GROUP).asset_materialization
        assert event.metadata["bytes"].value > 0

    def test_a_partition_that_is_nowhere_says_what_to_do(self, instance: Any, archive: Any, tmp_path: Path) -> None:
        built(instance, archive, tmp_path / "w")
        key = group_id((*MEM0[:4], "gone"))
        instance.add_dynamic_partitions("result_groups", [key])
        result = core(instance, archive.root, tmp_path / "w", partition_key=key)
        assert not result.success
        assert "neither in the archive nor in the warehouse" in failure(result)[1]
        assert Warehouse(tmp_path / "w").current().path.name == "000001"

    def test_one_table_alone_refreshes_everything(self, instance: Any, archive: Any, tmp_path: Path) -> None:
        result = run(instance, archive.root, tmp_path / "w", asset_selection=[dg.AssetKey("prompts")])
        assert materialized(result) == {("prompts", None)}
        assert Warehouse(tmp_path / "w").current() is not None

    def test_the_manifest_alone_only_looks(self, instance: Any, archive: Any, tmp_path: Path) -> None:
        result = run(instance, archive.root, tmp_path / "w", asset_selection=[dg.AssetKey("manifest")])
        assert result.success
        assert Warehouse(tmp_path / "w").current() is None
        assert len(existing(instance)) == 3

    def test_views_alone_need_no_archive(self, instance: Any, archive: Any, tmp_path: Path) -> None:
        built(instance, archive, tmp_path / "w")
        result = run(instance, "/nowhere", tmp_path / "w", asset_selection=[dg.AssetKey("results")])
        assert materialized(result) == {("results", None)}

    def test_keys_with_slashes_and_percent_come_back(self) -> None:
        assert group_key("a%2Fb/c%252F/d&e/f/g") == ("a/b", "c%2F", "d&e", "f", "g")

    def test_a_range_over_all_partitions_is_a_refresh_of_what_changed(self, instance: Any) -> None:
        instance.add_dynamic_partitions("result_groups", ["a/b/c/d/e", "a/b/c/d/f"])
        ends = {"dagster/asset_partition_range_start": "a/b/c/d/e", "dagster/asset_partition_range_end": "a/b/c/d/f"}
        assert chosen_partitions(ends, instance) is None
        one = {"dagster/partition": "a/b/c/d/f"}
        assert selection(chosen_partitions(one, instance) or ()) == (
            ("experiment", "a"),
            ("backbone", "b"),
            ("split", "c"),
            ("collection", "d"),
            ("baseline", "f"),
        )


class TestVerify:
    def test_checks_what_is_published_and_changes_nothing(self, instance: Any, archive: Any, tmp_path: Path) -> None:
        built(instance, archive, tmp_path / "w")
        before = {p: p.stat().st_mtime_ns for p in (tmp_path / "w" / "snapshots").rglob("*")}
        result = run(instance, "/nowhere", tmp_path / "w", "verify")
        assert result.success
        assert not materialized(result)
        found = evaluations(result)
        assert found["predictions", "expectations", None].passed
        assert found["database", "reconciliation", None].check_name
        assert found["result_group", "input_contract", None].passed
        trip = found["database", "round_trip", None]
        assert trip.passed
        assert {name: value.value for name, value in trip.metadata.items()} == {
            "passed": 12,
            "failed": 0,
            "cannot be checked": 0,
        }
        assert {p: p.stat().st_mtime_ns for p in (tmp_path / "w" / "snapshots").rglob("*")} == before

    def test_a_row_that_was_changed_behind_its_back_fails_the_round_trip(
        self, instance: Any, archive: Any, tmp_path: Path
    ) -> None:
        built(instance, archive, tmp_path / "w")
        [file] = (tmp_path / "w" / "parquet" / "predictions").rglob("baseline=mem0/*.parquet")
        rows = pq.read_table(file, partitioning=None)
        texts = pa.array(["Other." for _ in range(rows.num_rows)])
        pq.write_table(rows.set_column(rows.schema.get_field_index("response"), "response", texts), file)
        trip = dg.AssetSelection.checks(round_trip)
        job = dg.define_asset_job("trip", selection=trip)
        result = (
            dg.Definitions.merge(defs, dg.Definitions(jobs=[job]))
            .resolve_job_def("trip")
            .execute_in_process(instance=instance, run_config=config("/nowhere", tmp_path / "w"))
        )
        found = evaluations(result)["database", "round_trip", None]
        assert not found.passed
        assert found.description is not None
        assert found.description.startswith(f"{folder(MEM0)}/predict.json: ")

    def test_without_a_warehouse_says_how_to_make_one(self, instance: Any, tmp_path: Path) -> None:
        assert "mbw build" in failure(run(instance, "/nowhere", tmp_path / "w", "verify"))[1]


class TestFaults:
    def test_bad_data_is_not_tried_again(self, instance: Any, tmp_path: Path) -> None:
        result = run(instance, tmp_path / "absent", tmp_path / "w")
        assert failure(result)[0] == "manifest"
        assert "is not a folder" in failure(result)[1]
        assert not [e for e in result.all_events if e.event_type_value == "STEP_UP_FOR_RETRY"]

    def test_a_locked_warehouse_is_tried_again_and_then_reported(
        self, instance: Any, archive: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(faults, "FIRST_WAIT", 0.01)
        (tmp_path / "w").mkdir()
        with warehouse_lock(tmp_path / "w"):
            result = run(instance, archive.root, tmp_path / "w", asset_selection=[dg.AssetKey("manifest")])
        assert len([e for e in result.all_events if e.event_type_value == "STEP_UP_FOR_RETRY"]) == faults.MAX_RETRIES
        assert "is being built by" in failure(result)[1]

    def test_only_the_network_and_a_lock_are_transient(self) -> None:
        import httpx2

        def caused(cause: Exception) -> SourceError:
            error = SourceError("the Hub cannot be reached")
            error.__cause__ = cause
            return error

        class Answer(Exception):
            def __init__(self, status: int) -> None:
                self.response = type("Response", (), {"status_code": status})()

        transient = [
            httpx2.ConnectError("no"),
            httpx2.ReadTimeout("no"),
            ConnectionResetError(),
            Answer(503),
            Answer(429),
        ]
        assert all(faults.is_transient(caused(cause)) for cause in transient)
        assert faults.is_transient(WarehouseLocked("locked"))
        lasting = [Answer(404), Answer(401), FileNotFoundError(), ValueError()]
        assert not any(faults.is_transient(caused(cause)) for cause in lasting)
        assert not faults.is_transient(SourceError("no result group"))
        assert not faults.is_transient(PublicationBlocked("a check failed"))


def inventory() -> dict[str, list[str]]:
    """The names of everything that the UI shows."""
    graph = defs.resolve_asset_graph()
    repository = defs.get_repository_def()
    return {
        "assets": sorted(key.to_user_string() for key in graph.get_all_asset_keys()),
        "checks": sorted(
            f"{key.asset_key.to_user_string()}:{key.name}" + (" (blocks)" if graph.get_check_spec(key).blocking else "")
            for key in graph.asset_check_keys
        ),
        "jobs": sorted(job.name for job in repository.get_all_jobs() if not job.name.startswith("__")),
        "schedules": sorted(schedule.name for schedule in repository.schedule_defs),
        "sensors": sorted(sensor.name for sensor in repository.sensor_defs),
    }


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(inventory(), indent=2) + "\n")
