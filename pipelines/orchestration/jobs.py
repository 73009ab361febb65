"""Jobs and the schedule."""

import os

import dagster as dg

from pipelines.orchestration.checks import round_trip

#: Five in the morning, UTC; MBW_SCHEDULE is another cron expression.
CRON = os.environ.get("MBW_SCHEDULE") or "0 5 * * *"

_VERIFY = {"resources": {"build": {"config": {"verify": True}}}}

refresh_job = dg.define_asset_job(
    "refresh",
    selection=dg.AssetSelection.all() - dg.AssetSelection.checks(round_trip),
    description="Bring the warehouse up to date with the archive and publish it: reads what changed, checks all.",
)
refresh_and_verify_job = dg.define_asset_job(
    "refresh_and_verify",
    selection=dg.AssetSelection.all(),
    config=_VERIFY,
    description="Refresh, then check the published warehouse anew, also where the archive has not changed.",
)
verify_job = dg.define_asset_job(
    "verify",
    selection=dg.AssetSelection.all_asset_checks() - dg.AssetSelection.checks_for_assets(dg.AssetKey("manifest")),
    description="Check the published warehouse again. Reads only, and needs no archive.",
)


@dg.schedule(
    name="refresh_daily",
    job=refresh_and_verify_job,
    cron_schedule=CRON,
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Refresh and verify once a day. Off until it is switched on.",
)
def refresh_daily(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """One run a tick."""
    return dg.RunRequest(run_config=_VERIFY)
