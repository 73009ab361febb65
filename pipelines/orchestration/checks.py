"""Asset checks. Those on tables and the database come with the step that builds them and keep a bad build from being
published; those on groups follow the publication and say which group is bad."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg

from pipelines.orchestration.faults import reported
from pipelines.orchestration.partitions import partition_keys
from pipelines.orchestration.quality import (
    GROUP_CHECKS,
    CheckOutcome,
    GroupFault,
    declared_checks,
    group_faults,
    listing_faults,
)
from pipelines.orchestration.resources import BuildResource, WarehouseResource

MANIFEST = dg.AssetKey("manifest")
RESULT_GROUP = dg.AssetKey("result_group")
DATABASE = dg.AssetKey("database")

#: How many messages of a failed check are shown, and how many groups of a failed group check are named.
SHOWN_MESSAGES = 5
SHOWN_GROUPS = 50

TABLE_CHECKS = [
    dg.AssetCheckSpec(check.name, asset=dg.AssetKey(check.asset), description=check.meaning, blocking=check.blocks)
    for check in declared_checks()
]
LISTING_CHECK = dg.AssetCheckSpec(
    "listing",
    asset=MANIFEST,
    description="Every line of the manifest could be taken, and every file that it names is there.",
)
GROUP_CHECK_SPECS = [
    # After the database: they read what was published.
    dg.AssetCheckSpec(name, asset=RESULT_GROUP, additional_deps=[DATABASE], description=meaning)
    for name, meaning in GROUP_CHECKS.items()
]


def severity(text: str) -> dg.AssetCheckSeverity:
    """Dagster's word for the severity of a finding."""
    return dg.AssetCheckSeverity.ERROR if text == "error" else dg.AssetCheckSeverity.WARN


def listed(messages: list[str]) -> str:
    """The first messages, and how many more there are."""
    more = len(messages) - SHOWN_MESSAGES
    return "\n".join([*messages[:SHOWN_MESSAGES], *([f"and {more} more"] if more > 0 else [])])


def check_result(outcome: CheckOutcome) -> dg.AssetCheckResult:
    """An outcome as the result of a check that is part of the running step."""
    return dg.AssetCheckResult(
        asset_key=dg.AssetKey(outcome.asset),
        check_name=outcome.name,
        passed=outcome.passed,
        severity=severity(outcome.severity),
        description=listed(outcome.messages) or None,
        metadata=outcome.figures,
    )


def check_evaluation(outcome: CheckOutcome) -> dg.AssetCheckEvaluation:
    """The same as an event, for a step that will fail or where no step runs."""
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(outcome.asset),
        check_name=outcome.name,
        passed=outcome.passed,
        severity=severity(outcome.severity),
        description=listed(outcome.messages) or None,
        metadata=outcome.figures,
        blocking=next(c.blocks for c in declared_checks() if (c.asset, c.name) == (outcome.asset, outcome.name)),
    )


def listing_result(findings: Iterable[Any]) -> dg.AssetCheckResult:
    """The check on the archive's listing. A bad line or a missing file keeps nothing else from being built."""
    messages = listing_faults(findings)
    return dg.AssetCheckResult(
        check_name=LISTING_CHECK.name,
        asset_key=MANIFEST,
        passed=not messages,
        severity=dg.AssetCheckSeverity.WARN,
        description=listed(messages) or None,
        metadata={"findings": len(messages)},
    )


def group_results(faults: list[GroupFault]) -> dict[str, dict[str, Any]]:
    """For each group check, the arguments of its result over all groups: which of them fail it."""
    by_check: dict[str, list[GroupFault]] = defaultdict(list)
    for fault in faults:
        by_check[fault.check].append(fault)
    results = {}
    for name in GROUP_CHECKS:
        bad = by_check[name]
        metadata: dict[str, Any] = {"failing_groups": len(bad)}
        if bad:
            lines = [f"- `{fault.group_id}`: {fault.messages[0]}" for fault in bad[:SHOWN_GROUPS]]
            metadata["groups"] = dg.MetadataValue.md("\n".join(lines))
        results[name] = {
            "passed": not bad,
            "severity": dg.AssetCheckSeverity.WARN,  # what is wrong with one group stops no other
            "description": listed([f"{fault.group_id}: {fault.messages[0]}" for fault in bad]) or None,
            "metadata": metadata,
        }
    return results


def partition_evaluations(
    instance: dg.DagsterInstance, faults: list[GroupFault], checks: Iterable[str]
) -> Iterator[dg.AssetCheckEvaluation]:
    """An evaluation for each group that fails a check, and for each that failed it the last time and does no more.

    Groups that keep passing get none: an event costs as much as reading a small group.
    """
    for name in checks:
        failing = {fault.group_id: fault for fault in faults if fault.check == name}
        for group_id in partition_keys(sorted(failing.keys() | _failed_before(instance, name))):
            fault = failing.get(group_id)
            yield dg.AssetCheckEvaluation(
                asset_key=RESULT_GROUP,
                check_name=name,
                passed=fault is None,
                partition=group_id,
                severity=severity(fault.severity) if fault else dg.AssetCheckSeverity.WARN,
                description=listed(fault.messages) if fault else None,
            )


def _failed_before(instance: dg.DagsterInstance, name: str) -> set[str]:
    """The partitions whose last evaluation of a check is a failure."""
    records = instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(RESULT_GROUP, name), limit=1000
    )
    last: dict[str, bool] = {}
    for record in records:  # the newest first
        event = record.event.dagster_event if record.event else None
        evaluation = event.event_specific_data if event else None
        if isinstance(evaluation, dg.AssetCheckEvaluation) and evaluation.partition is not None:
            last.setdefault(evaluation.partition, evaluation.passed)
    return {partition for partition, passed in last.items() if not passed}


@dg.multi_asset_check(name="group_checks", specs=GROUP_CHECK_SPECS, can_subset=True)
def group_checks(context: dg.AssetCheckExecutionContext, warehouse: WarehouseResource) -> Iterator[dg.AssetCheckResult]:
    """Reads from the published warehouse which groups are bad. One result over all groups, and one for each bad
    group's partition."""
    with reported(context):
        faults = group_faults(warehouse.warehouse.require_current().path)
        wanted = [spec.name for spec in GROUP_CHECK_SPECS if spec.key in context.selected_asset_check_keys]
        for evaluation in partition_evaluations(context.instance, faults, wanted):
            context.op_execution_context.log_event(evaluation)  # type: ignore[arg-type]
        results = group_results(faults)
        for name in wanted:
            yield dg.AssetCheckResult(asset_key=RESULT_GROUP, check_name=name, **results[name])


@dg.asset_check(
    asset=DATABASE,
    name="round_trip",
    description="Every file of the archive comes back from the tables as it was published. Rebuilds all of them, so it "
    "belongs to verifying, not to each refresh.",
)
def round_trip(
    context: dg.AssetCheckExecutionContext, warehouse: WarehouseResource, build: BuildResource
) -> dg.AssetCheckResult:
    """Asks the archive only about files whose rebuilt text has another digest than the published file."""
    from pipelines.quality.verify import archive_of, rebuilt_files

    with reported(context):
        figures = {"passed": 0, "failed": 0, "cannot be checked": 0}
        messages = []
        snapshot = warehouse.warehouse.require_current()
        for outcome in rebuilt_files(snapshot, archive_of(snapshot), jobs=build.jobs):
            figures[outcome.outcome] += 1
            if outcome.outcome == "failed":
                messages.append(f"{outcome.file}: {outcome.message}")
        return dg.AssetCheckResult(passed=not messages, description=listed(messages) or None, metadata=figures)


def unpublished_evaluations(folder: Path | None) -> list[dg.AssetCheckEvaluation]:
    """What stopped a snapshot from being published."""
    from pipelines.orchestration.quality import outcomes, recorded_results

    if folder is None:
        return []
    return [check_evaluation(outcome) for outcome in outcomes(recorded_results(folder)) if not outcome.passed]
