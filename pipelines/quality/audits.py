"""Runs the audits of sql/audits/: each is a SELECT that returns what is wrong, and so has to return no row.

The header of an audit says how grave a row is, and how it reads: `-- message:` is a template that takes the row's
columns. The columns group_id, file, dataset and test_idx go into the finding as such; check_name takes the place of the
audit's own name. `relations/` holds what several audits read, each made once as a temporary table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, cast, get_args

from pipelines.findings import Finding, Severity
from pipelines.load.views import SqlFile, SqlFileError, parse_sql_file, quoted

if TYPE_CHECKING:
    import duckdb

_PLACES = ("group_id", "file", "dataset", "test_idx")
#: A finding's message is cut here; texts of the archive can be of any length.
MAX_MESSAGE = 2000


@dataclass(frozen=True)
class Audit:
    """One audit, as its file declares it."""

    file: SqlFile
    severity: Severity

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def message(self) -> str:
        return self.file.fields["message"]


@dataclass(frozen=True)
class AuditResult:
    """The rows that an audit returned, as findings."""

    audit: Audit
    findings: list[Finding]

    @property
    def success(self) -> bool:
        return not self.findings

    def as_dict(self) -> dict[str, Any]:
        """For the results file."""
        return {
            "audit": self.audit.name,
            "meaning": self.audit.file.meaning,
            "severity": self.audit.severity,
            "success": self.success,
            "findings": [
                {"check": f.check, "group_id": f.group_id, "file": f.file, "dataset": f.dataset, "message": f.message}
                for f in self.findings
            ],
        }


@dataclass(frozen=True)
class Outcome:
    """How the published numbers of one check and group came out against the scores."""

    check: str
    group_id: str
    passed: int
    failed: int
    unchecked: int
    reasons: tuple[str, ...]


def list_audits(root: Traversable | None = None) -> list[Audit]:
    """Every audit, by name. `root` is another folder than sql/audits/.

    Raises:
        SqlFileError: a header is not as it has to be.
    """
    audits = []
    for path, text in _texts(root or files("sql") / "audits"):
        file = parse_sql_file(text, path, fields=("grain", "severity", "message"))
        severity = file.fields["severity"]
        if severity not in get_args(Severity):
            raise SqlFileError(f"{path}: severity {severity!r} is none of {', '.join(get_args(Severity))}.")
        audits.append(Audit(file, cast(Severity, severity)))
    return audits


def _texts(root: Traversable) -> Iterator[tuple[str, str]]:
    for path in sorted(root.iterdir(), key=lambda path: path.name):
        if path.name.endswith(".sql"):
            yield f"sql/audits/{path.name}", path.read_text(encoding="utf-8")


def create_relations(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the temporary tables that audits read, in the connection's default database."""
    for path, text in _texts(files("sql") / "audits" / "relations"):
        file = parse_sql_file(text, path, fields=("grain",))
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {quoted(file.name)} AS {file.sql}")


def run_audits(connection: duckdb.DuckDBPyConnection, root: Traversable | None = None) -> list[AuditResult]:
    """Run every audit; `create_relations` comes first."""
    return [AuditResult(audit, list(_findings(connection, audit))) for audit in list_audits(root)]


def _findings(connection: duckdb.DuckDBPyConnection, audit: Audit) -> Iterator[Finding]:
    cursor = connection.execute(audit.file.sql)
    columns = [column[0] for column in cursor.description]
    for values in cursor.fetchall():
        row = dict(zip(columns, values, strict=True))
        places = {name: row.get(name) for name in _PLACES}
        message = audit.message.format_map(row)
        if len(message) > MAX_MESSAGE:
            message = message[: MAX_MESSAGE - 1] + "…"
        yield Finding(row.get("check_name", audit.name), audit.severity, message, **places)


def reconciliation_outcomes(connection: duckdb.DuckDBPyConnection) -> list[Outcome]:
    """Passed, failed and not to be checked, for each check of reconciliation and group; needs `create_relations`."""
    rows = connection.execute(
        """
        SELECT
            check_name,
            group_id,
            COUNT(*) FILTER (WHERE outcome = 'passed'),
            COUNT(*) FILTER (WHERE outcome = 'failed'),
            COUNT(*) FILTER (WHERE outcome = 'cannot be checked'),
            LIST(DISTINCT open_reason ORDER BY open_reason) FILTER (WHERE open_reason IS NOT NULL)
        FROM comparisons
        GROUP BY check_name, group_id
        ORDER BY check_name, group_id
        """
    ).fetchall()
    return [
        Outcome(check, group_id, passed, failed, unchecked, tuple(reasons or ()))
        for check, group_id, passed, failed, unchecked, reasons in rows
    ]
