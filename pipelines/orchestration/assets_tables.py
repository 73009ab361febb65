"""The tables and the database: one step puts the tables together, builds the database, checks all of it, and publishes.

Each table is an asset of its own, so that it has its columns, figures and checks; they are built and published together
or not at all.
"""

from collections.abc import Iterator
from datetime import timedelta

import dagster as dg

from pipelines.errors import PublicationBlocked
from pipelines.load.snapshots import DATABASE as DATABASE_FILE
from pipelines.orchestration.checks import (
    DATABASE,
    MANIFEST,
    RESULT_GROUP,
    TABLE_CHECKS,
    check_result,
    unpublished_evaluations,
)
from pipelines.orchestration.events import published_tables, refresh_metadata
from pipelines.orchestration.faults import reported
from pipelines.orchestration.metadata import OWNERS, table_schema
from pipelines.orchestration.partitions import chosen_partitions, delete_partitions
from pipelines.orchestration.quality import fresh_results, outcomes, recorded_results
from pipelines.orchestration.resources import BuildResource, SourceResource, WarehouseResource
from pipelines.orchestration.session import BuildSession
from schemas import TABLES
from schemas.model import Table

#: A warehouse that was not compared with its source for so long is too old; the schedule does it daily.
FRESHNESS = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=50), warn_window=timedelta(hours=26))

_REFERENCE = ("datasets", "baselines", "normalization")
_HISTORY = ("findings", "refreshes")


def table_spec(table: Table) -> dg.AssetSpec:
    """A table as an asset: everything from its declaration."""
    group = "reference" if table.name in _REFERENCE else "history" if table.name in _HISTORY else "tables"
    return dg.AssetSpec(
        table.name,
        deps=[RESULT_GROUP if table.grouped else MANIFEST],
        description=f"{table.meaning} Grain: {table.grain}.",
        owners=OWNERS,
        group_name=group,
        kinds={"parquet", "duckdb"} if table.in_database else {"parquet"},
        metadata={"dagster/column_schema": table_schema(table)},
    )


TABLE_SPECS = [table_spec(table) for table in TABLES.values()]
DATABASE_SPEC = dg.AssetSpec(
    DATABASE,
    deps=[spec.key for spec in TABLE_SPECS],
    description=f"{DATABASE_FILE}: every table but the prompts, and the views. Published by one rename.",
    owners=OWNERS,
    group_name="database",
    kinds={"duckdb"},
    freshness_policy=FRESHNESS,
)


@dg.multi_asset(name="tables", specs=[*TABLE_SPECS, DATABASE_SPEC], check_specs=TABLE_CHECKS, can_subset=True)
def tables(
    context: dg.AssetExecutionContext, source: SourceResource, warehouse: WarehouseResource, build: BuildResource
) -> Iterator[dg.MaterializeResult | dg.AssetCheckResult]:
    """Whichever tables are selected, all are built and published. With checks alone, what is published is checked."""
    with reported(context):
        if not context.selected_asset_keys:
            results = fresh_results(warehouse.warehouse.require_current().path)
        else:
            session = build.session(context, source, warehouse)
            finish(context, session)
            snapshot = session.snapshot
            for result in published_tables(snapshot, sum(session.seconds.values())):
                if result.asset_key in context.selected_asset_keys:
                    yield _with_refresh(result, session)
            again = build.verify and not session.differs
            results = fresh_results(snapshot.path) if again else recorded_results(snapshot.path)
        for outcome in outcomes(results):
            if dg.AssetCheckKey(dg.AssetKey(outcome.asset), outcome.name) in context.selected_asset_check_keys:
                yield check_result(outcome)


def _with_refresh(result: dg.MaterializeResult, session: BuildSession) -> dg.MaterializeResult:
    if result.asset_key != DATABASE:
        return result
    steps = {f"seconds_{name}": round(seconds, 3) for name, seconds in session.seconds.items()}
    return result._replace(
        metadata={
            **(result.metadata or {}),
            "changed": session.differs,
            **(refresh_metadata(session.snapshot) if session.differs else {}),
            **steps,
        }
    )


def has_step(context: dg.AssetExecutionContext, name: str) -> bool:
    """Whether this run has a step of that name; a run that was launched again from where it failed lacks some."""
    chosen = context.run.step_keys_to_execute
    return any(node.name == name for node in context.job_def.nodes) and (chosen is None or name in chosen)


def refuse_unknown_partitions(context: dg.AssetExecutionContext, session: BuildSession) -> None:
    """A run for a group that is nowhere fails before anything is read; the partitions were out of date."""
    session.upto("plan")
    chosen = chosen_partitions(context.run.tags, context.instance)
    plan = session.plan
    there = {group.key.group_id for group in plan.listing.groups} | plan.previous_rows.keys()
    unknown = [key for key in chosen or () if key not in there]
    if unknown:
        raise dg.Failure(
            f"{unknown[0]} is neither in the archive nor in the warehouse. Materialize `manifest` or run the job "
            "`refresh`: they bring the partitions up to date.",
            allow_retries=False,
        )


def finish(context: dg.AssetExecutionContext, session: BuildSession) -> None:
    """Build, check and publish whatever is not yet, and forget the partitions of groups that are gone.

    What keeps it from being published shows as a failed check, although its step fails.
    """
    refuse_unknown_partitions(context, session)
    session.upto("build_database")
    try:
        session.upto("publish")
    except PublicationBlocked:
        for evaluation in unpublished_evaluations(session.unpublished):
            context.log_event(evaluation)
        raise
    listed = [group.key.group_id for group in session.plan.listing.groups]
    partitioned = context.run.tags.keys() & {"dagster/partition", "dagster/asset_partition_range_start"}
    if not partitioned:  # a run for partitions looks its own up again until it ends
        delete_partitions(context.instance, [*listed, *session.rows_by_group])
