"""What Dagster is told about a published snapshot: the same in a run, and where `mbw build` made it.

Dagster asks nothing of a build from the command line; a sensor reports it afterwards (sensors.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import dagster as dg

from pipelines.load.assembly import result_group_rows
from pipelines.load.partitions import read_single
from pipelines.load.snapshots import Snapshot
from pipelines.load.views import in_order, list_views
from pipelines.orchestration.checks import (
    DATABASE,
    MANIFEST,
    RESULT_GROUP,
    check_evaluation,
    group_results,
    partition_evaluations,
)
from pipelines.orchestration.lineage import column_lineage
from pipelines.orchestration.metadata import (
    Metadata,
    data_version,
    database_metadata,
    reading,
    table_metadata,
    view_metadata,
)
from pipelines.orchestration.partitions import partition_keys
from pipelines.orchestration.quality import group_faults, outcomes, recorded_results
from schemas import TABLES
from schemas.result_groups import GOOD

DATA_VERSION_TAG = "dagster/data_version"
Events = list[dg.AssetMaterialization | dg.AssetObservation | dg.AssetCheckEvaluation]


def group_materializations(
    rows: Iterable[Mapping[str, Any]], figures: Mapping[str, Metadata]
) -> Iterator[dg.AssetMaterialization]:
    """A materialization for each of these rows of result_groups; `figures` adds metadata by group id."""
    for row in rows:
        for key in partition_keys([row["group_id"]]):
            yield dg.AssetMaterialization(
                asset_key=RESULT_GROUP,
                partition=key,
                metadata={**group_metadata(row), **figures.get(key, {})},
                tags={DATA_VERSION_TAG: data_version(row["files"]).value},
            )


def group_metadata(row: Mapping[str, Any]) -> Metadata:
    """What a row of result_groups says."""
    counts = {name: row[name] for name in ("n_predictions", "n_evaluations", "n_scores") if row[name] is not None}
    return {
        "status": row["status"],
        "validity": row["validity"] or "not judged",
        "revision": row["first_revision"],
        "relative_dir": row["relative_dir"],
        **counts,
    }


def published_tables(snapshot: Snapshot, seconds: float | None = None) -> Iterator[dg.MaterializeResult]:
    """Every table and the database, with their figures."""
    timing = {} if seconds is None else {"seconds": round(seconds, 3)}
    version = data_version(f"{snapshot.info.refresh_id} {snapshot.info.revision}")
    with reading(snapshot) as connection:
        for table in TABLES.values():
            metadata = {**table_metadata(connection, snapshot, table), **timing}
            yield dg.MaterializeResult(asset_key=table.name, metadata=metadata, data_version=version)
        metadata = {**database_metadata(connection, snapshot), **timing}
        yield dg.MaterializeResult(asset_key=DATABASE, metadata=metadata, data_version=version)


def published_views(snapshot: Snapshot) -> Iterator[dg.MaterializeResult]:
    """Every view, with its rows, columns and where they come from."""
    with reading(snapshot) as connection:
        baselines = [row[0] for row in connection.execute("SELECT DISTINCT baseline FROM result_groups").fetchall()]
        there = {
            row[0] for row in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        }
        lineage = column_lineage(tuple(sorted(baselines)))
        version = data_version(f"{snapshot.info.refresh_id} {snapshot.info.revision}")
        for view in in_order(list_views(baselines)):
            if view.name in there:  # not where an older version of this program built the snapshot
                metadata = view_metadata(connection, snapshot, view)
                metadata["dagster/column_lineage"] = lineage[view.name]
                yield dg.MaterializeResult(asset_key=view.name, metadata=metadata, data_version=version)


def snapshot_events(instance: dg.DagsterInstance, snapshot: Snapshot) -> Events:
    """Everything that a run which published this snapshot would have reported. Groups whose content Dagster knows
    already are left out."""
    rows = result_group_rows(snapshot.parquet)
    known = instance.event_log_storage.get_latest_tags_by_partition(
        RESULT_GROUP, dg.DagsterEventType.ASSET_MATERIALIZATION, [DATA_VERSION_TAG]
    )
    new = [
        row
        for group_id, row in rows.items()
        if row["status"] in GOOD and known.get(group_id, {}).get(DATA_VERSION_TAG) != data_version(row["files"]).value
    ]
    manifest = dg.AssetMaterialization(
        MANIFEST, metadata={"groups": len(rows), "revision": snapshot.info.revision, "source": snapshot.info.source}
    )
    events: Events = [manifest, *group_materializations(new, {})]
    for result in [*published_tables(snapshot), *published_views(snapshot)]:
        tags = {DATA_VERSION_TAG: result.data_version.value} if result.data_version else None
        assert result.asset_key is not None
        events.append(dg.AssetMaterialization(result.asset_key, metadata=result.metadata, tags=tags))
    events += [check_evaluation(outcome) for outcome in outcomes(recorded_results(snapshot.path))]
    faults = group_faults(snapshot.path)
    results = group_results(faults)
    events += [dg.AssetCheckEvaluation(RESULT_GROUP, check_name=name, **result) for name, result in results.items()]
    events += partition_evaluations(instance, faults, list(results))
    return events


def refresh_metadata(snapshot: Snapshot) -> Metadata:
    """The last row of `refreshes`: what the refresh did."""
    history = read_single(snapshot.parquet, TABLES["refreshes"]).to_pylist()
    last = history[-1] if history else {}
    return {name: last[name] for name in last if name.startswith("groups_")}


def group_figures(loaded: Iterable[Any]) -> dict[str, Metadata]:
    """Bytes and rows of the groups that were read just now."""
    figures: dict[str, Metadata] = {}
    for group in loaded:
        figures[group.group.key.group_id] = {"bytes": group.bytes_read, "dagster/row_count": sum(group.rows.values())}
    return figures
