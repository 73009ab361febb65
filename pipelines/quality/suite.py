"""What a suite of expectations is. Great Expectations runs it (gx_runner.py); nothing here imports it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pipelines.findings import Severity


@dataclass(frozen=True)
class Expectation:
    """One expectation of Great Expectations (`kind` is its class), and what its failure means.

    `check` is the word that findings have, `meaning` completes "expected that …". `evidence` are columns shown beside
    those that name a failing row.
    """

    check: str
    kind: str
    arguments: dict[str, Any]
    meaning: str
    severity: Severity = "error"
    blocks: bool = True
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """Expectations on one frame. `query` gives the frame; `labels` are its columns that name a row; where the frame
    has a column group_id, failing rows are reported by group.

    `groups_of` is a table with as many rows of each group as the frame, where no expectation is about rows of several
    groups, so that they may be checked some at a time.
    """

    name: str
    query: str
    labels: tuple[str, ...]
    expectations: tuple[Expectation, ...] = field(default=())
    groups_of: str | None = None


def range_text(minimum: float | None, maximum: float | None) -> str:
    if minimum is None:
        return f"at or below {maximum:g}"
    if maximum is None:
        return f"at or above {minimum:g}"
    return f"between {minimum:g} and {maximum:g}"
