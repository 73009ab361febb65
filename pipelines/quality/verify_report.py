"""What verifying found, for people and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pipelines.findings import Finding, Severity

AUDIT_ROWS = "audit rows"
#: How many findings of one check the text report shows.
SHOWN = 10


@dataclass
class CheckLine:
    """One line of the report: a check, what it counts, and how many passed, failed and cannot be checked.

    `severity` is that of the gravest failure, None where nothing failed; `noted` counts rows that are good to know and
    no failure.
    """

    check: str
    unit: str
    passed: int = 0
    failed: int = 0
    unchecked: int = 0
    severity: Severity | None = None
    reasons: list[str] = field(default_factory=list)
    noted: int = 0

    @property
    def status(self) -> str:
        if self.failed:
            return "FAILED" if self.severity == "error" else str(self.severity)
        if self.noted:
            return f"passed, {self.noted} noted"
        if self.passed or not self.unchecked:
            return "passed"
        return "cannot be checked"


@dataclass
class GroupLine:
    """One group: the checks that found something in it, and those that could not be made."""

    group_id: str
    failed: dict[str, int] = field(default_factory=dict)
    unchecked: dict[str, int] = field(default_factory=dict)
    severity: Severity | None = None


@dataclass
class VerifyReport:
    """What verifying found. `findings` are those of this run; what input said is in the table findings."""

    warehouse: str
    revision: str
    checks: list[CheckLine]
    groups: list[GroupLine]
    findings: list[Finding]

    @property
    def failed(self) -> bool:
        """A check failed: exit status 3. Warnings and what cannot be checked are no failures."""
        return any(line.failed and line.severity == "error" for line in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "warehouse": self.warehouse,
            "revision": self.revision,
            "failed": self.failed,
            "checks": [{**asdict(line), "status": line.status} for line in self.checks],
            "groups": [asdict(line) for line in self.groups],
            "findings": [asdict(finding) for finding in self.findings],
        }

    def as_text(self) -> str:
        """For people: a table by check, one by group, and the findings, the gravest first."""
        rows = [("check", "of", "passed", "failed", "cannot be checked", "result")]
        rows += [
            (
                line.check,
                line.unit,
                "" if line.unit == AUDIT_ROWS else str(line.passed),  # rows are faults: none of them passes
                str(line.failed),
                str(line.unchecked),
                line.status,
            )
            for line in self.checks
        ]
        parts = [_aligned(rows)]
        if with_faults := [line for line in self.groups if line.failed]:
            group_rows = [("group", "found by")]
            for group in _each_check_first(with_faults)[:SHOWN]:
                found = ", ".join(f"{check} ({count})" for check, count in group.failed.items())
                group_rows.append((group.group_id, found))
            parts.append(_aligned(group_rows) + _more(len(with_faults) - SHOWN, "group"))
        order = {"error": 0, "warning": 1, "info": 2}
        shown: Counter[str] = Counter()
        lines = []
        for finding in sorted(self.findings, key=lambda finding: order[finding.severity]):
            shown[finding.check] += 1
            if shown[finding.check] <= SHOWN:
                place = finding.file or finding.group_id
                lines.append(f"{finding.severity}: {finding.check}: {f'{place}: ' if place else ''}{finding.message}")
        hidden = sum(count - SHOWN for count in shown.values() if count > SHOWN)
        if hidden:
            lines.append(f"… and {hidden} more (--json has all)")
        if lines:
            parts.append("\n".join(lines))
        return "\n\n".join(parts)


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    numbers = {
        column for column in range(len(rows[0])) if all(row[column].isdigit() or not row[column] for row in rows[1:])
    }
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _each_check_first(groups: Sequence[GroupLine]) -> list[GroupLine]:
    """The groups in their order, but each check's first before any check's second, so that what many groups have does
    not hide what one has."""
    seen: Counter[str] = Counter()
    places = []
    for group in groups:
        places.append(min(seen[check] for check in group.failed))
        seen.update(group.failed.keys())
    return [groups[i] for i in sorted(range(len(groups)), key=places.__getitem__)]


def _more(count: int, what: str) -> str:
    return f"\n… and {count} more {what}{'s' if count > 1 else ''} (--json has all)" if count > 0 else ""
