"""Validates a snapshot before it is published: expectations, audits, reconciliation, validity.

What the checks find becomes findings of stage quality, in Parquet and in the database, and a file of results for each
suite and audit in quality/. Only what means that this program is wrong blocks publication; a fault of the published
data is a finding.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from pipelines.archive.json_reader import dumps
from pipelines.errors import PublicationBlocked
from pipelines.findings import Finding, Stage
from pipelines.load.assembly import sorted_findings, write_findings
from pipelines.load.connection import CATALOG, opened_database, with_enough_memory
from pipelines.load.partitions import PART, read_single
from pipelines.load.snapshots import DATABASE, PARQUET, QUALITY
from pipelines.load.views import quoted
from pipelines.quality.audits import AuditResult, Outcome, create_relations, reconciliation_outcomes, run_audits
from pipelines.quality.expectations import contract_suite, suites
from pipelines.quality.gx_runner import SuiteResult, run_suites
from schemas import TABLES
from schemas.model import KEYS

DATA_DOCS = "data_docs"
#: How many failures the message of a blocked publication names.
_NAMED = 5


@dataclass(frozen=True)
class QualityResult:
    """What the checks of one database found."""

    suites: list[SuiteResult]
    audits: list[AuditResult]
    outcomes: list[Outcome]

    @property
    def findings(self) -> list[Finding]:
        """Every finding of stage quality, in a fixed order."""
        found = [finding for suite in self.suites for finding in suite.findings()]
        found += [finding for audit in self.audits for finding in audit.findings]
        return sorted_findings(found)

    @property
    def blocking(self) -> list[str]:
        """What must keep the snapshot from being published: a message for each check, with the first group's rows."""
        messages = []
        for suite in self.suites:
            for result in suite.results:
                if result.success or not result.expectation.blocks:
                    continue
                first = SuiteResult(suite.suite, [result]).findings()[0]
                more = f" and {len(result.groups) - 1} more" if len(result.groups) > 1 else ""
                messages.append(f"{first.message} (group {first.group_id}{more})" if first.group_id else first.message)
        return messages


def validate_snapshot(snapshot_dir: Path) -> list[Finding]:
    """Run every check on the snapshot in `snapshot_dir`, whose database nobody else has open, and add what they find.

    Raises:
        PublicationBlocked: a table as a whole is not what it has to be.
    """
    with opened(snapshot_dir) as connection:
        result = check_database(connection, snapshot_dir / PARQUET)
        write_results(snapshot_dir / QUALITY, result)
        if result.blocking:
            named = "\n".join(f"  {message}" for message in result.blocking[:_NAMED])
            raise PublicationBlocked(
                f"{_checks(len(result.blocking))} on whole tables failed, so nothing was published and the old "
                f"warehouse is as it was:\n{named}\nThis is a fault of this program, not of the archive: please report "
                "it."
            )
        findings = result.findings
        _store(connection, snapshot_dir / PARQUET, findings)
    return findings


def _checks(count: int) -> str:
    return "1 check" if count == 1 else f"{count} checks"


def opened(snapshot_dir: Path, *, read_only: bool = False) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    """A connection whose default database is the snapshot's; what is made in passing stays in memory."""
    return opened_database(snapshot_dir / DATABASE, read_only=read_only)


def check_database(
    connection: duckdb.DuckDBPyConnection, parquet_dir: Path, *, data_docs: Path | None = None
) -> QualityResult:
    """Run every check on the connection's default database. Where a table has not the columns that are declared,
    nothing else is run: it could only fail for that.

    Raises:
        WarehouseError: it takes more memory than DuckDB is ever given.
    """

    def check(memory_limit: int) -> QualityResult:
        connection.execute(f"SET memory_limit = '{memory_limit}MB'")
        return _check(connection, parquet_dir, data_docs)

    return with_enough_memory(check)


def _check(connection: duckdb.DuckDBPyConnection, parquet_dir: Path, data_docs: Path | None) -> QualityResult:
    tables = [table for table in TABLES.values() if table.in_database]
    contract = contract_suite(tables, CATALOG)
    ran = run_suites(connection, [contract], data_docs=data_docs)
    if not ran[0].success:
        return QualityResult(ran, [], [])
    ran += run_suites(connection, suites(connection, _prompts_pattern(parquet_dir)), data_docs=data_docs)
    create_relations(connection)
    return QualityResult(ran, run_audits(connection), reconciliation_outcomes(connection))


def _prompts_pattern(parquet_dir: Path) -> str | None:
    pattern = "/".join(["prompts", *("*" for _ in KEYS), PART])
    return f"{parquet_dir}/{pattern}" if next(parquet_dir.glob(pattern), None) else None


def write_data_docs(snapshot_dir: Path) -> Path:
    """Write Great Expectations' pages on the snapshot; returns the page to open. They need no network."""
    folder = snapshot_dir / QUALITY / DATA_DOCS
    with opened(snapshot_dir, read_only=True) as connection:
        check_database(connection, snapshot_dir / PARQUET, data_docs=folder)
    return folder / "index.html"


def write_results(folder: Path, result: QualityResult) -> None:
    """Write a JSON file for each suite and audit, and one for reconciliation. The same data gives the same bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    contents: dict[str, Any] = {f"suite-{suite.suite.name}": suite.as_dict() for suite in result.suites}
    contents |= {f"audit-{audit.audit.name}": audit.as_dict() for audit in result.audits}
    contents["reconciliation"] = _reconciliation(result.outcomes)
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(dumps(content, indent=2) + "\n", encoding="utf-8")


def _reconciliation(outcomes: Iterable[Outcome]) -> dict[str, dict[str, int]]:
    checks: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        counts = checks.setdefault(outcome.check, {"passed": 0, "failed": 0, "cannot be checked": 0})
        counts["passed"] += outcome.passed
        counts["failed"] += outcome.failed
        counts["cannot be checked"] += outcome.unchecked
    return checks


def _store(connection: duckdb.DuckDBPyConnection, parquet_dir: Path, findings: list[Finding]) -> None:
    """Add the findings of stage quality to the table, in Parquet and in the database, in the place of older ones."""
    table = TABLES["findings"]
    by_stage: dict[Stage, list[Finding]] = {"source": [], "input": []}
    for row in read_single(parquet_dir, table).to_pylist():
        stage = row.pop("stage")
        if stage != "quality":
            by_stage[stage].append(Finding(**row))
    write_findings(parquet_dir, {**by_stage, "quality": findings})
    connection.execute("DELETE FROM findings WHERE stage = 'quality'")
    if findings:
        rows = read_single(parquet_dir, table)
        connection.register("stored", rows)
        names = ", ".join(quoted(name) for name in table.column_names)
        connection.execute(f"INSERT INTO findings SELECT {names} FROM stored WHERE stage = 'quality'")
        connection.unregister("stored")
