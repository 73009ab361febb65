"""The sensors: what is launched when the archive moves, and what is told of builds from the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pipelines.archive.sources import open_source
from pipelines.load.lock import warehouse_lock
from pipelines.load.snapshots import Warehouse
from pipelines.orchestration.checks import RESULT_GROUP
from pipelines.orchestration.definitions import defs
from pipelines.orchestration.jobs import refresh_daily
from pipelines.orchestration.resources import SourceResource, WarehouseResource
from pipelines.orchestration.sensors import archive_revision, published_elsewhere
from pipelines.refresh import refresh
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, build, folder, group_id
from tests.hub.loopback import GET, INFO, STORAGE, LoopbackHub, server_error

pytest_plugins = ["tests.hub.fixtures"]

REPO = "THUIR/MemoryBench-Results"
ADDRESS = f"hf://datasets/{REPO}"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    home = tmp_path / "dagster"
    home.mkdir()
    with dg.DagsterInstance.local_temp(str(home), overrides={"telemetry": {"enabled": False}}) as made:
        yield made


@pytest.fixture
def archive(tmp_path: Path) -> HandmadeArchive:
    made = HandmadeArchive(tmp_path / "archive")
    for keys in (A_MEM, WO_MEMORY, MEM0):
        made.add(keys)
    return made


class Watcher:
    """Ticks of `archive_revision`, each with the cursor that the one before left, as the daemon does it."""

    def __init__(self, instance: dg.DagsterInstance, address: str, warehouse: Path) -> None:
        self.instance = instance
        self.resources = {
            "source": SourceResource(address=address),
            "warehouse": WarehouseResource(path=str(warehouse)),
        }
        self.cursor: str | None = None

    def tick(self) -> dg.SensorResult | dg.SkipReason:
        context = dg.build_sensor_context(
            instance=self.instance, cursor=self.cursor, resources=self.resources, definitions=defs
        )
        result = archive_revision(context)
        if isinstance(result, dg.SensorResult):
            for request in result.dynamic_partitions_requests or []:
                self.instance.add_dynamic_partitions("result_groups", request.partition_keys)
            self.cursor = result.cursor
        return result

    def launched(self) -> list[dg.RunRequest]:
        result = self.tick()
        return list(result.run_requests or []) if isinstance(result, dg.SensorResult) else []


@pytest.fixture
def hub(
    archive: HandmadeArchive, make_default: Callable[[LoopbackHub], None], own_home: Any, waits: Any
) -> Iterator[LoopbackHub]:
    with LoopbackHub() as server:
        server.add_revision(REPO, archive.root)
        make_default(server)
        yield server


def refresh_from_hub(warehouse: Path) -> None:
    with open_source(ADDRESS) as source:
        refresh(source, Warehouse(warehouse))


@pytest.mark.usefixtures("unchecked")
class TestArchiveRevision:
    def test_three_revisions_launch_one_run_each_and_only_for_what_changed(
        self, instance: Any, hub: LoopbackHub, archive: HandmadeArchive, tmp_path: Path
    ) -> None:
        warehouse = tmp_path / "w"
        watcher = Watcher(instance, ADDRESS, warehouse)

        [first] = watcher.launched()
        assert first.tags["memorybench/changed_groups"] == "3"
        assert sorted(instance.get_dynamic_partitions("result_groups")) == sorted(
            map(group_id, (A_MEM, WO_MEMORY, MEM0))
        )
        assert watcher.launched() == [], "the same revision is not launched twice"
        refresh_from_hub(warehouse)

        (archive.root / "README.md").write_text("Only words.")
        words = hub.add_revision(REPO, archive.root)
        assert watcher.launched() == [], "no group changed"
        assert watcher.cursor == words

        new = (*MEM0[:4], "mem0_new")
        archive.add(new)
        archive.write(archive.root / folder(A_MEM) / "run_config.json", {"retrieve_k": 9})
        second = hub.add_revision(REPO, archive.root)
        [request] = watcher.launched()
        assert request.tags["memorybench/revision"] == second
        assert request.tags["memorybench/changed_groups"] == "2"
        assert group_id(new) in instance.get_dynamic_partitions("result_groups")
        assert watcher.cursor == second
        assert watcher.launched() == []

    def test_the_run_that_it_launches_reads_from_the_hub_what_changed(
        self, instance: Any, hub: LoopbackHub, archive: HandmadeArchive, tmp_path: Path
    ) -> None:
        warehouse = tmp_path / "w"
        watcher = Watcher(instance, ADDRESS, warehouse)
        refresh_from_hub(warehouse)
        assert watcher.launched() == []
        archive.write(archive.root / folder(A_MEM) / "run_config.json", {"retrieve_k": 9})
        commit = hub.add_revision(REPO, archive.root)
        [request] = watcher.launched()
        resources = {
            "source": {"config": {"address": ADDRESS}},
            "warehouse": {"config": {"path": str(warehouse)}},
            "build": {"config": {"jobs": 1}},
        }
        core = [dg.AssetKey("manifest"), RESULT_GROUP, dg.AssetKey("database")]
        with hub.counting() as requests:
            result = defs.resolve_job_def("refresh").execute_in_process(
                instance=instance, run_config={"resources": resources}, tags=dict(request.tags), asset_selection=core
            )
        read = {e.partition for e in result.all_events if e.is_step_materialization and e.asset_key == RESULT_GROUP}
        assert read - {None} == {group_id(A_MEM)}
        downloads = [request.path for request in requests if request.route in (GET, STORAGE)]
        assert downloads == [f"{folder(A_MEM)}/run_config.json"]
        current = Warehouse(warehouse).require_current()
        assert (current.info.source, current.info.revision) == (ADDRESS, commit)

    def test_an_unreachable_hub_is_a_reason_to_skip_and_keeps_the_cursor(
        self, instance: Any, hub: LoopbackHub, tmp_path: Path
    ) -> None:
        watcher = Watcher(instance, ADDRESS, tmp_path / "w")
        hub.misbehave(INFO, server_error())
        result = watcher.tick()
        assert isinstance(result, dg.SkipReason)
        assert "503" in str(result.skip_message)
        assert watcher.cursor is None
        hub.behave()
        assert len(watcher.launched()) == 1

    def test_a_folder_is_watched_by_its_file_times(
        self, instance: Any, archive: HandmadeArchive, tmp_path: Path
    ) -> None:
        watcher = Watcher(instance, str(archive.root), tmp_path / "w")
        assert len(watcher.launched()) == 1
        assert watcher.launched() == []
        archive.write(archive.root / folder(MEM0) / "run_config.json", {"retrieve_k": 100})
        assert len(watcher.launched()) == 1

    def test_the_sample_is_not_watched(self, instance: Any, tmp_path: Path) -> None:
        assert isinstance(Watcher(instance, "sample", tmp_path / "w").tick(), dg.SkipReason)


class TestPublishedElsewhere:
    def tick(self, instance: dg.DagsterInstance, warehouse: Path, cursor: str | None = None) -> Any:
        context = dg.build_sensor_context(
            instance=instance,
            cursor=cursor,
            resources={"warehouse": WarehouseResource(path=str(warehouse))},
            definitions=defs,
        )
        result = published_elsewhere(context)
        for event in getattr(result, "asset_events", None) or []:
            instance.report_runless_asset_event(event)
        return result

    def test_a_build_from_the_command_line_shows_as_materialized(
        self, instance: Any, archive: HandmadeArchive, tmp_path: Path
    ) -> None:
        archive.write(archive.root / folder(A_MEM) / "predict.json", b"[")
        build(archive.root, tmp_path / "w")
        result = self.tick(instance, tmp_path / "w")
        keys = [spec.key for spec in defs.resolve_all_asset_specs()]
        missing = {key for key in keys if instance.get_latest_materialization_event(key) is None}
        assert missing == {dg.AssetKey("report")}, "a build writes all but the report"
        assert set(instance.get_materialized_partitions(RESULT_GROUP)) == {group_id(WO_MEMORY), group_id(MEM0)}
        [added] = result.dynamic_partitions_requests
        assert len(added.partition_keys) == 3
        key = dg.AssetCheckKey(RESULT_GROUP, "input_contract")
        history = instance.event_log_storage.get_asset_check_execution_history(key, limit=10)
        failed = [r.event.dagster_event.event_specific_data for r in history]
        assert {e.partition for e in failed if not e.passed} == {None, group_id(A_MEM)}

        again = self.tick(instance, tmp_path / "w", result.cursor)
        assert isinstance(again, dg.SkipReason)

    @pytest.mark.usefixtures("unchecked")
    def test_only_what_is_new_is_reported_of_the_next_build(
        self, instance: Any, archive: HandmadeArchive, tmp_path: Path
    ) -> None:
        build(archive.root, tmp_path / "w")
        cursor = self.tick(instance, tmp_path / "w").cursor
        archive.write(archive.root / folder(MEM0) / "run_config.json", {"retrieve_k": 100})
        build(archive.root, tmp_path / "w")
        events = self.tick(instance, tmp_path / "w", cursor).asset_events
        assert [e.partition for e in events if e.asset_key == RESULT_GROUP and getattr(e, "tags", None)] == [
            group_id(MEM0)
        ]

    @pytest.mark.usefixtures("unchecked")
    def test_waits_while_a_build_is_running(self, instance: Any, archive: HandmadeArchive, tmp_path: Path) -> None:
        build(archive.root, tmp_path / "w")
        with warehouse_lock(tmp_path / "w"):
            assert isinstance(self.tick(instance, tmp_path / "w"), dg.SkipReason)

    def test_no_warehouse_is_a_reason_to_skip(self, instance: Any, tmp_path: Path) -> None:
        assert isinstance(self.tick(instance, tmp_path / "w"), dg.SkipReason)


def test_the_schedule_is_daily_off_and_verifies() -> None:
    assert refresh_daily.default_status == dg.DefaultScheduleStatus.STOPPED
    assert refresh_daily.job_name == "refresh_and_verify"
    request = refresh_daily.evaluate_tick(dg.build_schedule_context()).run_requests[0]
    assert request.run_config["resources"]["build"]["config"]["verify"] is True
