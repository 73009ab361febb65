"""The archive's side: `manifest`, what the archive holds, and `result_group`, one partition for each group."""

from collections.abc import Iterator

import dagster as dg

from pipelines.orchestration.assets_tables import finish, has_step, refuse_unknown_partitions
from pipelines.orchestration.checks import LISTING_CHECK, MANIFEST, RESULT_GROUP, listing_result
from pipelines.orchestration.events import group_figures, group_materializations, group_metadata
from pipelines.orchestration.faults import reported
from pipelines.orchestration.metadata import OWNERS, data_version, markdown_table
from pipelines.orchestration.partitions import GROUPS, add_partitions
from pipelines.orchestration.resources import BuildResource, SourceResource, WarehouseResource
from pipelines.orchestration.session import BuildSession

MANIFEST_SPEC = dg.AssetSpec(
    MANIFEST,
    description="What the archive holds: every result group and its files, from one revision, and which of them are "
    "new, changed or gone. Reads no data file.",
    owners=OWNERS,
    group_name="archive",
    kinds={"json", "huggingface"},
)
RESULT_GROUP_SPEC = dg.AssetSpec(
    RESULT_GROUP,
    deps=[MANIFEST],
    partitions_def=GROUPS,
    description="A result group, read, normalised and written as Parquet: one partition for each (experiment, "
    "backbone, split, collection, baseline), its key the group_id. Materialized when the group's content was read.",
    owners=OWNERS,
    group_name="archive",
    kinds={"parquet"},
)


@dg.multi_asset(name="manifest", specs=[MANIFEST_SPEC], check_specs=[LISTING_CHECK])
def manifest(
    context: dg.AssetExecutionContext, source: SourceResource, warehouse: WarehouseResource, build: BuildResource
) -> Iterator[dg.MaterializeResult | dg.AssetCheckResult]:
    with reported(context):
        session = build.session(context, source, warehouse)
        session.upto("plan")
        plan = session.plan
        new = add_partitions(context.instance, [group.key.group_id for group in plan.listing.groups])
        figures = {
            "groups": len(plan.listing.groups),
            "to_load": len(plan.to_load),
            "unchanged": len(plan.kept),
            "removed": len(plan.removed),
            "new_partitions": len(new),
            "bytes": sum(file.bytes for group in plan.listing.groups for file in group.files),
        }
        preview = [(g.key.group_id, len(g.files), sum(f.bytes for f in g.files)) for g in plan.to_load[:10]]
        yield dg.MaterializeResult(
            asset_key=MANIFEST,
            metadata={
                **figures,
                "dagster/row_count": len(plan.listing.groups),
                "source": session.run.source.name,
                "revision": plan.listing.revision or "told by content",
                "seconds": round(session.seconds["plan"], 3),
                "preview": dg.MetadataValue.md(markdown_table(("to load", "files", "bytes"), preview)),
            },
            data_version=data_version(plan.listing.revision) if plan.listing.revision else None,
        )
        yield listing_result(plan.listing.findings)


@dg.multi_asset(
    name="result_group",
    specs=[RESULT_GROUP_SPEC],
    partitions_def=GROUPS,
    backfill_policy=dg.BackfillPolicy.single_run(),
)
def result_group(
    context: dg.AssetExecutionContext, source: SourceResource, warehouse: WarehouseResource, build: BuildResource
) -> Iterator[dg.MaterializeResult]:
    """Reads what changed, or the partitions that the run was launched for, all in this process and its workers."""
    with reported(context):
        session = build.session(context, source, warehouse)
        refuse_unknown_partitions(context, session)
        session.upto("assemble")
        if not has_step(context, "tables"):
            finish(context, session)
        yield _group_result(context, session)


def _group_result(context: dg.AssetExecutionContext, session: BuildSession) -> dg.MaterializeResult:
    """Report each group that was read, and sum them up.

    Where the run is for partitions, Dagster itself logs a materialization for each of them; else one is logged here for
    each group that was read, and none for those that are bad.
    """
    figures = group_figures(session.run.loaded)
    rows = session.rows_by_group
    good = [rows[g.group.key.group_id] for g in session.run.loaded if not g.unchanged and g.error is None]
    if context.has_partition_key or context.has_partition_key_range:
        for key in context.partition_keys:
            if key in rows:
                context.add_asset_metadata(
                    {**group_metadata(rows[key]), **figures.get(key, {})}, asset_key=RESULT_GROUP, partition_key=key
                )
    else:
        for event in group_materializations(good, figures):
            context.log_event(event)
    return dg.MaterializeResult(
        asset_key=RESULT_GROUP,
        metadata={
            "groups_read": len(good),
            "groups_bad": sum(1 for g in session.run.loaded if g.error is not None),
            "bytes_read": session.run.report.bytes_read,
            "revision_of_run": session.run.report.revision,
            "seconds": round(session.seconds["load"], 3),
        },
    )
