"""Results of validation as asset checks: which checks there are, and what a snapshot says of each.

Reads what validation wrote beside the tables (quality/*.json, the table findings) and knows nothing of Dagster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipelines.archive.json_reader import loads
from pipelines.findings import Finding, Severity, graver
from pipelines.load.partitions import read_single
from pipelines.load.snapshots import PARQUET, QUALITY
from pipelines.quality.audits import list_audits
from schemas import TABLES
from schemas.result_groups import BAD

#: Suites over more than one table, or over some of a table's values: their asset, what they look at, and whether a
#: failure keeps the build from being published.
_OTHER_SUITES = {
    "columns": ("database", "The database has the columns that are declared, with their types.", True),
    "row_counts": ("database", "Each group has as many rows as its files have records.", True),
    "metric_ranges": ("sample_metrics", "Each metric's finite values lie in its published range.", False),
    "score_ranges": ("sample_scores", "Each finite score lies in its dataset's published range.", False),
}
EXPECTATIONS = "expectations"


@dataclass(frozen=True)
class CheckDeclaration:
    """A check on a table or the database. `blocks`: its failure keeps the build from being published."""

    asset: str
    name: str
    meaning: str
    blocks: bool


@dataclass
class CheckOutcome:
    """What a check said. `severity` is error where the failure keeps the build from being published."""

    asset: str
    name: str
    passed: bool
    severity: str = "error"
    messages: list[str] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)


RECONCILIATION = "reconciliation"

#: Results by the name of their file in quality/, such as suite-sample_metrics.
Results = dict[str, dict[str, Any]]


def declared_checks() -> list[CheckDeclaration]:
    """Every check on tables and the database: one for each suite, one for each audit, and reconciliation."""
    suites = [
        CheckDeclaration(
            table.name, EXPECTATIONS, f"Great Expectations' suite for {table.name}, from its columns.", True
        )
        for table in TABLES.values()
        if table.in_database
    ]
    others = [CheckDeclaration(asset, name, text, blocks) for name, (asset, text, blocks) in _OTHER_SUITES.items()]
    audits = [
        CheckDeclaration("database", audit.name, f"{audit.file.meaning} ({audit.file.file})", False)
        for audit in list_audits()
    ]
    meaning = "Every published number that can be recomputed from the samples' scores is what it says."
    return [*suites, *others, *audits, CheckDeclaration("database", RECONCILIATION, meaning, False)]


def recorded_results(snapshot_dir: Path) -> Results:
    """What validation wrote into the snapshot."""
    return {path.stem: loads(path.read_bytes()) for path in sorted((snapshot_dir / QUALITY).glob("*.json"))}


def fresh_results(snapshot_dir: Path) -> Results:
    """Validate a snapshot again, and leave it as it is."""
    from pipelines.quality.validation import check_database, opened, write_results

    with opened(snapshot_dir, read_only=True) as connection, TemporaryDirectory() as folder:
        write_results(Path(folder) / QUALITY, check_database(connection, snapshot_dir / PARQUET))
        return recorded_results(Path(folder))


def outcomes(results: Results) -> list[CheckOutcome]:
    """What the results say of each declared check; nothing of those that were not run."""
    found = []
    for declared in declared_checks():
        if declared.name == RECONCILIATION:
            if RECONCILIATION in results:
                found.append(_reconciliation(results[RECONCILIATION]))
            continue
        suite = declared.asset if declared.name == EXPECTATIONS else declared.name
        if (result := results.get(f"suite-{suite}")) is not None:
            found.append(_suite(declared, result))
        elif (result := results.get(f"audit-{declared.name}")) is not None:
            found.append(_audit(declared, result))
    return found


def _suite(declared: CheckDeclaration, result: dict[str, Any]) -> CheckOutcome:
    failed = [item for item in result["expectations"] if not item["success"]]
    outcome = CheckOutcome(
        declared.asset,
        declared.name,
        passed=result["success"],
        severity="error" if any(item["blocks_publication"] for item in failed) else "warning",
        figures={"expectations": len(result["expectations"])},
    )
    for item in failed:
        examples = [text for texts in item["examples"].values() for text in texts]
        message = f"expected that {item['meaning']}; {item['failing_rows']} of {item['rows']} rows not"
        message += f": {examples[0]}" if examples else f"; {item['problem']}" if item["problem"] else ""
        outcome.messages.append(message)
    if failed:
        outcome.figures["failed_expectations"] = len(failed)
        outcome.figures["failing_rows"] = sum(item["failing_rows"] for item in failed)
        outcome.figures["failing_groups"] = len({group for item in failed for group in item["failing_groups"] if group})
    return outcome


def _audit(declared: CheckDeclaration, result: dict[str, Any]) -> CheckOutcome:
    messages = [f"{item['group_id'] or 'all'}: {item['message']}" for item in result["findings"]]
    # Rows of severity info are good to know, and no failure.
    passed = result["success"] or result["severity"] == "info"
    return CheckOutcome(
        declared.asset, declared.name, passed, result["severity"], messages, {"findings": len(result["findings"])}
    )


def _reconciliation(result: dict[str, dict[str, int]]) -> CheckOutcome:
    figures: dict[str, int] = {"passed": 0, "failed": 0, "cannot be checked": 0}
    messages = []
    for check, counts in result.items():
        for name in figures:
            figures[name] += counts[name]
        if counts["failed"]:
            messages.append(f"{check}: {counts['failed']} numbers are not what the scores give")
    return CheckOutcome("database", RECONCILIATION, not messages, "warning", messages, figures)


# Groups ---------------------------------------------------------------------------------------------------------------

#: Checks on a group: they keep no one else from being published.
GROUP_CHECKS = {
    "input_contract": "The group's files could be read and keep to the contract; else it is quarantined, or its last "
    "good version is shown as stale.",
    "validity": "The group's responses can be trusted: not invalid, nor suspect.",
    "quality": "Validation found nothing in the group's rows: ranges, references, numbers that do not reconcile.",
}


@dataclass
class GroupFault:
    """Why one group failed one check."""

    group_id: str
    check: str
    severity: Severity
    messages: list[str]


def group_faults(snapshot_dir: Path) -> list[GroupFault]:
    """Every group that fails a check, with the reasons."""
    parquet = snapshot_dir / PARQUET
    groups = read_single(parquet, TABLES["result_groups"]).select(
        ["group_id", "status", "validity", "validity_reasons"]
    )
    found: dict[tuple[str, str], GroupFault] = {}

    def add(group_id: str, check: str, severity: Severity, message: str) -> None:
        fault = found.setdefault((group_id, check), GroupFault(group_id, check, severity, []))
        fault.severity = graver(fault.severity, severity)
        fault.messages.append(message)

    findings = _findings_by_group(parquet)
    for row in groups.to_pylist():
        group_id = row["group_id"]
        if row["status"] in BAD:
            add(group_id, "input_contract", "error", f"The group is {row['status']}.")
        if row["validity"] in ("invalid", "suspect"):
            severity: Severity = "error" if row["validity"] == "invalid" else "warning"
            add(group_id, "validity", severity, f"{row['validity']}: {row['validity_reasons']}")
        for finding in findings.get(group_id, []):
            if finding["severity"] == "info":
                continue
            place = finding["file"] or ""
            if finding["record"] is not None:
                place += f", record {finding['record']}"
            message = f"{place}: {finding['message']}" if place else finding["message"]
            if finding["stage"] == "quality":
                if finding["check"] != "validity":  # the row of result_groups says it
                    add(group_id, "quality", finding["severity"], message)
            else:
                add(group_id, "input_contract", finding["severity"], message)
    return list(found.values())


def _findings_by_group(parquet: Path) -> dict[str, list[dict[str, Any]]]:
    by_group: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for finding in read_single(parquet, TABLES["findings"]).to_pylist():
        if finding["group_id"] is not None:
            by_group[finding["group_id"]].append(finding)
    return by_group


def listing_faults(findings: Iterable[Finding]) -> list[str]:
    """What is wrong with the archive's listing, one text a finding."""
    return [
        f"{finding.file or 'archive'}"
        + (f", record {finding.record}" if finding.record is not None else "")
        + f": {finding.message}"
        for finding in findings
        if finding.severity != "info"
    ]
