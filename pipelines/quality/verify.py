"""Checks a finished warehouse against everything that can be checked. Reads only; publishes nothing.

Contract (the columns of Parquet and database are those that are declared), expectations, audits, reconciliation, row
counts of Parquet against the database, and the round trip of every file. Each check counts what passed, what failed
and what cannot be checked, which is neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.archive.hub import HubAddress, parse_address
from pipelines.archive.source import Source
from pipelines.archive.sources import open_source
from pipelines.config import HUB_PREFIX
from pipelines.errors import SourceError, WarehouseError
from pipelines.findings import Finding, graver
from pipelines.load.assembly import Row, result_group_rows, sorted_findings
from pipelines.load.partitions import PART
from pipelines.load.snapshots import FORMAT, Snapshot, Warehouse
from pipelines.load.views import quoted
from pipelines.quality.audits import AuditResult, Outcome
from pipelines.quality.gx_runner import SuiteResult
from pipelines.quality.round_trip import FileOutcome, GroupTask, check_groups
from pipelines.quality.validation import QualityResult, check_database, opened
from pipelines.quality.verify_report import AUDIT_ROWS, CheckLine, GroupLine, VerifyReport
from schemas import TABLES
from schemas.model import KEYS
from schemas.result_groups import GOOD

OpenSource = Callable[[], AbstractContextManager[Source]]

RECONCILIATION = "reconcile_"


def verify(
    warehouse: Warehouse,
    source: OpenSource | None = None,
    *,
    jobs: int = 1,
    on_group: Callable[[str], None] | None = None,
) -> VerifyReport:
    """Check the published warehouse.

    `source` opens the archive, which decides on files whose rebuilt text is not the published one; most need none.
    `on_group` is told each group whose files were rebuilt.

    Raises:
        WarehouseError: there is no warehouse, it is another version's, or it cannot be opened.
    """
    snapshot = warehouse.require_current()
    if snapshot.info.format != FORMAT:
        raise WarehouseError(f"{warehouse.root} was built by another version of this program. Build it again.")
    report = _Report()
    try:
        rows = result_group_rows(snapshot.parquet)
        report.loading(rows)
        report.parquet_schemas(snapshot.parquet)
        with opened(snapshot.path, read_only=True) as connection:
            result = check_database(connection, snapshot.parquet)
            report.quality(result)
            if result.outcomes or not result.blocking:
                report.row_counts(connection, snapshot.parquet)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise WarehouseError(f"{warehouse.root} cannot be read: {error}. Build it again with --full.") from error
    report.round_trip(rebuilt_files(snapshot, source, jobs=jobs, on_group=on_group))
    return report.finished(warehouse, snapshot)


class _Report:
    """Collects lines and findings."""

    def __init__(self) -> None:
        self.lines: list[CheckLine] = []
        self.findings: list[Finding] = []
        self.unchecked: dict[str, dict[str, int]] = {}

    def loading(self, rows: dict[str, Row]) -> None:
        line = CheckLine("groups_loaded", "groups")
        for group_id, row in rows.items():
            if row["status"] in GOOD:
                line.passed += 1
                continue
            line.failed += 1
            line.severity = "error"
            message = f"the group is {row['status']}: its newest version is bad"
            self.findings.append(Finding("groups_loaded", "error", message, group_id=group_id))
        self.lines.append(line)

    def parquet_schemas(self, parquet_dir: Path) -> None:
        line = CheckLine("parquet_schema", "files")
        for table in TABLES.values():
            expected = table.arrow_schema()
            for path in sorted((parquet_dir / table.name).rglob("*.parquet")):
                if pq.read_schema(path).equals(expected):
                    line.passed += 1
                    continue
                line.failed += 1
                line.severity = "error"
                message = "the file's columns are not those that are declared"
                place = f"parquet/{path.relative_to(parquet_dir)}"
                self.findings.append(Finding("parquet_schema", "error", message, file=place))
        self.lines.append(line)

    def quality(self, result: QualityResult) -> None:
        self.findings += result.findings
        self.lines += _expectation_lines(result.suites)
        self.lines += _audit_lines(result.audits)
        self.lines += _reconciliation_lines(result.outcomes)
        for outcome in result.outcomes:
            if outcome.unchecked:
                self.unchecked.setdefault(outcome.group_id, {})[outcome.check] = outcome.unchecked

    def row_counts(self, connection: duckdb.DuckDBPyConnection, parquet_dir: Path) -> None:
        line = CheckLine("parquet_rows", "tables")
        for table in TABLES.values():
            if not table.in_database:
                continue
            in_parquet = sum(pq.read_metadata(path).num_rows for path in _files(parquet_dir, table.name))
            row = connection.execute(f"SELECT count(*) FROM {quoted(table.name)}").fetchone()
            in_database = row[0] if row else 0
            if in_parquet == in_database:
                line.passed += 1
                continue
            line.failed += 1
            line.severity = "error"
            message = f"{table.name} has {in_parquet} rows in Parquet and {in_database} in the database"
            self.findings.append(Finding("parquet_rows", "error", message))
        self.lines.append(line)

    def round_trip(self, outcomes: Iterable[FileOutcome]) -> None:
        line = CheckLine("round_trip", "files")
        for outcome in outcomes:
            if outcome.outcome == "passed":
                line.passed += 1
            elif outcome.outcome == "failed":
                line.failed += 1
                line.severity = "error"
                finding = Finding("round_trip", "error", outcome.message, group_id=outcome.group_id, file=outcome.file)
                self.findings.append(finding)
            else:
                line.unchecked += 1
                if outcome.message not in line.reasons:
                    line.reasons.append(outcome.message)
                checks = self.unchecked.setdefault(outcome.group_id, {})
                checks["round_trip"] = checks.get("round_trip", 0) + 1
        if line.unchecked:
            message = f"round_trip cannot be checked for {line.unchecked} files: {'; '.join(line.reasons)}"
            self.findings.append(Finding("round_trip", "info", message))
        self.lines.append(line)

    def finished(self, warehouse: Warehouse, snapshot: Snapshot) -> VerifyReport:
        groups: dict[str, GroupLine] = {}
        for group_id, checks in self.unchecked.items():
            groups[group_id] = GroupLine(group_id, unchecked=checks)
        for finding in self.findings:
            if finding.group_id is None or finding.severity == "info":
                continue
            line = groups.setdefault(finding.group_id, GroupLine(finding.group_id))
            line.failed[finding.check] = line.failed.get(finding.check, 0) + 1
            line.severity = graver(line.severity, finding.severity)
        ordered = [groups[group_id] for group_id in sorted(groups)]
        findings = sorted_findings(self.findings)
        return VerifyReport(str(warehouse.root), snapshot.info.revision, self.lines, ordered, findings)


def _files(parquet_dir: Path, table: str) -> Iterable[Path]:
    pattern = "/".join([*("*" for _ in KEYS if TABLES[table].grouped), PART])
    return (parquet_dir / table).glob(pattern)


def _expectation_lines(suites: Iterable[SuiteResult]) -> list[CheckLine]:
    lines: dict[str, CheckLine] = {}
    for suite in suites:
        for result in suite.results:
            expectation = result.expectation
            line = lines.setdefault(expectation.check, CheckLine(expectation.check, "expectations"))
            if result.success:
                line.passed += 1
                continue
            line.failed += 1
            line.severity = graver(line.severity, expectation.severity)
    return [lines[check] for check in sorted(lines)]


def _audit_lines(audits: Iterable[AuditResult]) -> list[CheckLine]:
    """One line for each audit but those of reconciliation, which have lines that count numbers. Rows of severity info
    are good to know and no failure."""
    lines = []
    for audit in audits:
        if audit.audit.name.startswith(RECONCILIATION) or audit.audit.name == "cannot_be_checked":
            continue
        line = CheckLine(audit.audit.name, AUDIT_ROWS)
        if audit.audit.severity == "info":
            line.noted = len(audit.findings)
        else:
            line.failed = len(audit.findings)
            line.severity = audit.audit.severity if audit.findings else None
        lines.append(line)
    return lines


def _reconciliation_lines(outcomes: Iterable[Outcome]) -> list[CheckLine]:
    lines: dict[str, CheckLine] = {}
    for outcome in outcomes:
        line = lines.setdefault(outcome.check, CheckLine(outcome.check, "published numbers"))
        line.passed += outcome.passed
        line.failed += outcome.failed
        line.unchecked += outcome.unchecked
        line.severity = "error" if line.failed else None
        line.reasons += [reason for reason in outcome.reasons if reason not in line.reasons]
    return [lines[check] for check in sorted(lines)]


def rebuilt_files(
    snapshot: Snapshot,
    source: OpenSource | None = None,
    *,
    jobs: int = 1,
    on_group: Callable[[str], None] | None = None,
) -> Iterable[FileOutcome]:
    """Give back each file of each loaded group from its rows, and say whether it equals what was published.

    The source is opened, and asked for the groups concerned alone, where the rebuilt text of a file has another digest
    than the published file. That is so where the publisher laid it out in another way, or where the rows are wrong.
    """
    rows = result_group_rows(snapshot.parquet)
    unproven: list[GroupTask] = []
    tasks = [GroupTask(snapshot.parquet, row, {}) for row in rows.values() if row["status"] != "quarantined"]
    for task, outcomes in zip(tasks, check_groups(tasks, jobs), strict=True):
        if on_group is not None:
            on_group(task.row["group_id"])
        if source is not None and any(outcome.outcome == "cannot be checked" for outcome in outcomes):
            unproven.append(task)
        else:
            yield from outcomes
    if source is not None and unproven:
        yield from _decided_by_source(source, unproven, jobs)


def archive_of(snapshot: Snapshot) -> OpenSource:
    """Opens the archive that a snapshot was made from; on the Hub, at the commit that it was made from."""
    address = snapshot.info.source
    if address.startswith(HUB_PREFIX):
        address = str(HubAddress(parse_address(address).repo_id, snapshot.info.revision))
    return lambda: open_source(address)


def _decided_by_source(source: OpenSource, tasks: list[GroupTask], jobs: int) -> Iterable[FileOutcome]:
    try:
        with source() as opened_source:
            wanted = {task.row["group_id"] for task in tasks}
            groups = [group for group in opened_source.list_groups().groups if group.key.group_id in wanted]
            paths = {fetched.group.key.group_id: fetched.paths for fetched in opened_source.fetch(groups)}
            with_files = [replace(task, paths=paths.get(task.row["group_id"], {})) for task in tasks]
            for outcomes in check_groups(with_files, jobs):
                yield from outcomes
    except SourceError as error:
        reason = f"its layout is not the publisher's, or its rows are wrong, and the source cannot be read: {error}"
        for outcomes in check_groups(tasks, jobs):
            for outcome in outcomes:
                unknown = outcome.outcome == "cannot be checked"
                yield replace(outcome, message=reason) if unknown else outcome
