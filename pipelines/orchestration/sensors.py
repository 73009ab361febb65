"""Sensors: one watches the archive, one the warehouse."""

import dagster as dg

from pipelines.config import SAMPLE
from pipelines.errors import MemoryBenchWarehouseError
from pipelines.load.assembly import result_group_rows
from pipelines.load.lock import LOCK_FILE
from pipelines.orchestration.checks import DATABASE
from pipelines.orchestration.events import snapshot_events
from pipelines.orchestration.jobs import refresh_job
from pipelines.orchestration.partitions import GROUPS, existing, partition_keys
from pipelines.orchestration.resources import SourceResource, WarehouseResource
from pipelines.orchestration.watch import look

REVISION_TAG = "memorybench/revision"
GROUPS_TAG = "memorybench/changed_groups"


@dg.sensor(
    name="archive_revision",
    job=refresh_job,
    minimum_interval_seconds=300,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Launches one refresh when the archive has a new revision in which a result group changed.",
)
def archive_revision(
    context: dg.SensorEvaluationContext, source: SourceResource, warehouse: WarehouseResource
) -> dg.SensorResult | dg.SkipReason:
    """The cursor is the last revision that was looked at: a commit SHA, or a digest of a folder's file times."""
    if source.address == SAMPLE:
        return dg.SkipReason("The bundled sample never changes. Set MBW_SOURCE to the archive to watch.")
    try:
        seen = look(source.address, warehouse.path)
    except MemoryBenchWarehouseError as error:
        return dg.SkipReason(f"Nothing launched: {error}")
    if seen.revision == context.cursor:
        return dg.SkipReason(f"Still at revision {seen.revision}.")
    known = set(existing(context.instance))
    new = [key for key in partition_keys(seen.groups) if key not in known]
    additions = [GROUPS.build_add_request(new)] if new else []
    if not seen.changed:
        return dg.SensorResult(
            skip_reason=f"No result group of revision {seen.revision} differs from the warehouse.",
            cursor=seen.revision,
            dynamic_partitions_requests=additions,
        )
    request = dg.RunRequest(
        # The same revision on top of the same snapshot is the same work, also where the cursor was lost.
        run_key=f"{source.address} {seen.revision} {seen.published}",
        tags={REVISION_TAG: seen.revision, GROUPS_TAG: str(len(seen.to_load) + len(seen.removed))},
    )
    return dg.SensorResult(run_requests=[request], cursor=seen.revision, dynamic_partitions_requests=additions)


@dg.sensor(
    name="published_elsewhere",
    target=dg.AssetSelection.all(),
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Shows a warehouse that `mbw build` published as materialized: tables, views, groups and checks.",
)
def published_elsewhere(
    context: dg.SensorEvaluationContext, warehouse: WarehouseResource
) -> dg.SensorResult | dg.SkipReason:
    """The cursor names the last snapshot that was seen."""
    place = warehouse.warehouse
    try:
        snapshot = place.current()
    except MemoryBenchWarehouseError as error:
        return dg.SkipReason(str(error))
    if snapshot is None:
        return dg.SkipReason(f"There is no warehouse at {place.root} yet.")
    seen = f"{snapshot.path} {snapshot.info.revision}"
    if context.cursor == seen:
        return dg.SkipReason(f"Snapshot {snapshot.path.name} is known.")
    if (place.root / LOCK_FILE).exists():
        return dg.SkipReason("A build is running.")
    if _is_reported(context.instance, str(snapshot.database)):
        return dg.SensorResult(cursor=seen, skip_reason=f"Snapshot {snapshot.path.name} was published by a run.")
    known = set(existing(context.instance))
    new = [key for key in partition_keys(result_group_rows(snapshot.parquet)) if key not in known]
    return dg.SensorResult(
        asset_events=snapshot_events(context.instance, snapshot),
        dynamic_partitions_requests=[GROUPS.build_add_request(new)] if new else [],
        cursor=seen,
    )


def _is_reported(instance: dg.DagsterInstance, database: str) -> bool:
    event = instance.get_latest_materialization_event(DATABASE)
    materialization = event.asset_materialization if event else None
    path = materialization.metadata.get("path") if materialization else None
    return path is not None and path.value == database
