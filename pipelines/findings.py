"""A finding: one thing that is wrong or notable, as any stage reports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
Stage = Literal["source", "input", "quality"]


def graver(one: Severity | None, other: Severity) -> Severity:
    """The graver of two severities; None is none yet."""
    order: tuple[Severity, ...] = ("error", "warning", "info")
    return next(severity for severity in order if severity in (one, other))


@dataclass(frozen=True)
class Finding:
    """One row of the table findings, but for its stage, which whoever collects it knows. `file` is relative to the
    archive, `record` counts from 0. `n_rows` is how many rows of a table it stands for."""

    check: str
    severity: Severity
    message: str
    group_id: str | None = None
    file: str | None = None
    record: int | None = None
    dataset: str | None = None
    test_idx: int | None = None
    n_rows: int | None = None
