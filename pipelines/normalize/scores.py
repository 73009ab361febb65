"""The one score of each sample: from summary.details, or derived from the main metric where there are no details.

`details` lists scores without saying whose they are; the publisher wrote them in the order of (dataset, test_idx) with
Locomo-0..9 folded into one list, and in that order they are joined to the evaluations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pipelines.archive.json_reader import json_type
from pipelines.findings import Finding
from pipelines.normalize.arrow import to_batch
from pipelines.normalize.evaluate_details import EvaluatedSample
from pipelines.normalize.records import SampleKey
from pipelines.normalize.scalars import to_score
from schemas.model import LLM_JUDGE
from schemas.reference.datasets import dataset_group, main_metric, score_range
from schemas.sample_scores import TABLE

JUDGE_SCALES = ((0.0, 1.0), (0.0, 10.0))


@dataclass
class Scores:
    """Score rows of one group, all protocols together."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    #: Reasons why the scale of a protocol cannot be told.
    scale_doubts: list[str] = field(default_factory=list)

    @property
    def n_out_of_scale(self) -> int:
        return sum(1 for row in self.rows if row[-1])

    def batch(self, group_id: str) -> pa.RecordBatch:
        columns = list(zip(*self.rows, strict=True)) if self.rows else [()] * (len(TABLE.columns) - 1)
        return to_batch(TABLE, [[group_id] * len(self.rows), *columns])


def add_scores(
    scores: Scores,
    group_id: str,
    protocol: str,
    details: Mapping[str, Sequence[Any]] | None,
    samples: Sequence[EvaluatedSample] | None,
    failed_generation: Mapping[SampleKey, bool],
    summary_file: str | None,
) -> None:
    """Add the rows of one protocol.

    `details` maps each dataset group to its published scores (None: nothing published); `samples` are the evaluations
    (None: the file is not there). Where both are there and disagree in number for a dataset group, its scores load
    without a sample, with a finding.
    """
    by_group: dict[str, list[EvaluatedSample]] = {}
    for sample in sorted(samples or (), key=lambda s: s.key):
        by_group.setdefault(dataset_group(sample.key[0]), []).append(sample)
    details = details or {}
    scale = _judge_scale(scores, details, samples or ()) if protocol == LLM_JUDGE else None
    for name in [*details, *(name for name in by_group if name not in details)]:
        evaluated = by_group.get(name, [])
        limits = scale if protocol == LLM_JUDGE else score_range(name, protocol)
        if name not in details:
            if details:
                scores.findings.append(_count_finding(group_id, protocol, name, 0, len(evaluated), summary_file))
            _add_derived(scores, protocol, name, evaluated, failed_generation, limits)
            continue
        published = details[name]
        owners: Sequence[EvaluatedSample | None] = evaluated
        if len(evaluated) != len(published):
            owners = [None] * len(published)
            if samples is not None:
                finding = _count_finding(group_id, protocol, name, len(published), len(evaluated), summary_file)
                scores.findings.append(finding)
        for position, (value, owner) in enumerate(zip(published, owners, strict=True)):
            number, kind = to_score(value)
            _add(scores, protocol, name, position, number, kind, "published", owner, failed_generation, limits)


def _add_derived(
    scores: Scores,
    protocol: str,
    name: str,
    evaluated: Sequence[EvaluatedSample],
    failed_generation: Mapping[SampleKey, bool],
    limits: tuple[float, float] | None,
) -> None:
    for position, sample in enumerate(evaluated):
        if protocol != LLM_JUDGE and main_metric(sample.key[0]) is None:
            continue  # its score is a merged one that stands nowhere else
        _add(scores, protocol, name, position, sample.main, sample.kind, "derived", sample, failed_generation, limits)


def _add(
    scores: Scores,
    protocol: str,
    name: str,
    position: int,
    number: float | None,
    kind: str,
    origin: str,
    owner: EvaluatedSample | None,
    failed_generation: Mapping[SampleKey, bool],
    limits: tuple[float, float] | None,
) -> None:
    judge_error = owner is not None and owner.judge_error
    score = None if judge_error else number
    counted = number if number is not None or kind == "absent" else 0.0
    failed = None
    if owner is not None:
        generation = failed_generation.get(owner.key)
        failed = True if judge_error or generation else generation
    out_of_scale = None
    if score is not None and limits is not None:
        out_of_scale = not limits[0] <= score <= limits[1]
    dataset, test_idx = owner.key if owner is not None else (None, None)
    scores.rows.append(
        (protocol, name, dataset, test_idx, position, score, counted, kind, origin, failed, out_of_scale)
    )


def _judge_scale(
    scores: Scores, details: Mapping[str, Sequence[Any]], samples: Sequence[EvaluatedSample]
) -> tuple[float, float] | None:
    """The judge's scale, told by the values: all within 0..1, or whole numbers among values past 1 for 0..10.

    Fractions between 0 and 1 beside values past 1 could be either, so nothing is said and the group becomes suspect.
    """
    values = [to_score(v)[0] for scores_ in details.values() for v in scores_] or [
        sample.main for sample in samples if not sample.judge_error
    ]
    numbers = [v for v in values if v is not None]
    if not numbers:
        return None
    if max(numbers) <= 1:
        return JUDGE_SCALES[0]
    fractions = sum(1 for v in numbers if 0 < v < 1)
    if fractions:
        scores.scale_doubts.append(
            f"judge scores mix scales: {fractions} of {len(numbers)} lie between 0 and 1, others are above 1"
        )
        return None
    return JUDGE_SCALES[1]


def _count_finding(
    group_id: str, protocol: str, name: str, published: int, evaluated: int, summary_file: str | None
) -> Finding:
    message = (
        f"summary.details has {published} scores for {name}, the evaluations have {evaluated} samples (protocol "
        f"{protocol}): " + ("scores load without test_idx" if published else "scores are derived from the main metric")
    )
    return Finding("score_count", "warning", message, group_id=group_id, file=summary_file, dataset=name)


def check_details(details: Any) -> Mapping[str, Sequence[Any]] | None:
    """`details` where it has the published shape (dataset to list), else None: then it is kept as residue only."""
    if type(details) is dict and all(type(scores) is list for scores in details.values()):
        return details
    return None


def details_shape(details: Any) -> str:
    """What stands where `details` should be, for a message."""
    if type(details) is not dict:
        return json_type(details)
    name, value = next((name, value) for name, value in details.items() if type(value) is not list)
    return f"an object whose {name!r} is {json_type(value)}"
