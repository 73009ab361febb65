"""Everything that Dagster loads. `[tool.dagster]` in pyproject.toml names this module."""

from __future__ import annotations

import dagster as dg

from pipelines.orchestration.assets_archive import manifest, result_group
from pipelines.orchestration.assets_report import report
from pipelines.orchestration.assets_tables import tables
from pipelines.orchestration.assets_views import views
from pipelines.orchestration.checks import group_checks, round_trip
from pipelines.orchestration.jobs import refresh_and_verify_job, refresh_daily, refresh_job, verify_job
from pipelines.orchestration.resources import BuildResource, SourceResource, WarehouseResource
from pipelines.orchestration.sensors import archive_revision, published_elsewhere

defs = dg.Definitions(
    assets=[manifest, result_group, tables, views, report],
    asset_checks=[group_checks, round_trip],
    jobs=[refresh_job, refresh_and_verify_job, verify_job],
    schedules=[refresh_daily],
    sensors=[archive_revision, published_elsewhere],
    resources={"source": SourceResource(), "warehouse": WarehouseResource(), "build": BuildResource()},
    # One process for all steps: they share one build, which holds the warehouse's lock.
    executor=dg.in_process_executor,
)
