"""evaluate_details.json: its bytes to evaluations, sample_metrics and sample_annotations, and back. No I/O.

Metrics differ between datasets, and one key changes its type between rows, so nothing is inferred: every scalar is a
row of sample_metrics with its kind, every text, list and object a row of sample_annotations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from pipelines.archive.json_reader import json_type, records
from pipelines.errors import BadRecord
from pipelines.normalize.arrow import Columns, empty_columns, repeated, to_batch
from pipelines.normalize.records import SampleKey, as_unicode, check_sample, is_unicode, residue, restore
from pipelines.normalize.scalars import from_columns, to_columns, to_score
from schemas.contracts import EVALUATE_DETAILS
from schemas.evaluations import TABLE as EVALUATIONS
from schemas.model import LLM_JUDGE, METRICS, Table
from schemas.reference.datasets import main_metric
from schemas.sample_annotations import TABLE as SAMPLE_ANNOTATIONS
from schemas.sample_metrics import TABLE as SAMPLE_METRICS

CANONICAL_KEYS = EVALUATE_DETAILS.canonical_keys
REQUIRED_KEYS = EVALUATE_DETAILS.required_keys
JUDGE_SCORE = "llm_judge_score"
JUDGE_ERROR = "judge_error"
_JUDGE_PREFIXES = ("llm_judge_", "judge_")
_ABSENT = object()


class EvaluatedSample(NamedTuple):
    """What scores need of an evaluation: its sample, the main metric's value (`kind` "absent" where it is not in the
    record or the dataset has none), and whether the judge call failed."""

    key: SampleKey
    main: float | None
    kind: str
    judge_error: bool


@dataclass(frozen=True)
class Evaluations:
    """The rows of one file. `samples` lists, for each protocol found, its samples in the order of the file."""

    evaluations: pa.RecordBatch
    sample_metrics: pa.RecordBatch
    sample_annotations: pa.RecordBatch
    samples: dict[str, list[EvaluatedSample]]
    n_records: int


def looks_like_evaluations(document: Any) -> bool:
    """Whether a file of another name holds evaluation details: a list of objects, all with the three keys."""
    return (
        type(document) is list
        and bool(document)
        and all(
            type(r) is dict and type(r.get("metrics")) is dict and "dataset" in r and "test_idx" in r for r in document
        )
    )


def normalize(data: bytes, group_id: str, source_file: str) -> Evaluations:
    """All rows of one file.

    Raises:
        BadRecord: not JSON, not a list, a record without a required key or with one of the wrong type, or a sample
            that stands twice under one protocol.
    """
    rows = _Rows()
    documents = list(records(data))
    judged_file = any(
        type(r) is dict and type(r.get("metrics")) is dict and JUDGE_SCORE in r["metrics"] for r in documents
    )
    samples: dict[str, list[EvaluatedSample]] = {}
    seen: set[tuple[str, SampleKey]] = set()
    for position, record in enumerate(documents):
        try:
            key = check_sample(record, REQUIRED_KEYS)
            metrics = record["metrics"]
            if type(metrics) is not dict:
                raise BadRecord(f"metrics is {json_type(metrics)}, expected an object")
            protocol = protocol_of(metrics, judged_file)
            if (protocol, key) in seen:
                raise BadRecord(f"duplicate sample: dataset {key[0]!r}, test_idx {key[1]} stands twice")
        except BadRecord as error:
            raise error.at(record=position) from error
        seen.add((protocol, key))
        rows.add(protocol, key, position, record, source_file)
        samples.setdefault(protocol, []).append(_evaluated(protocol, key, metrics))
    return Evaluations(
        rows.batch(EVALUATIONS, group_id),
        rows.batch(SAMPLE_METRICS, group_id),
        rows.batch(SAMPLE_ANNOTATIONS, group_id),
        samples,
        len(documents),
    )


def protocol_of(metrics: dict[str, Any], judged_file: bool) -> str:
    """llm_judge where the judge's score is among the metrics. A record of a judged file that holds nothing but the
    judge's own keys (or nothing at all) is the judge's too; everything else is protocol metrics."""
    if JUDGE_SCORE in metrics:
        return LLM_JUDGE
    if judged_file and all(name.startswith(_JUDGE_PREFIXES) for name in metrics):
        return LLM_JUDGE
    return METRICS


def _evaluated(protocol: str, key: SampleKey, metrics: dict[str, Any]) -> EvaluatedSample:
    name = JUDGE_SCORE if protocol == LLM_JUDGE else main_metric(key[0])
    value = _ABSENT if name is None else metrics.get(name, _ABSENT)
    judge_error = protocol == LLM_JUDGE and metrics.get(JUDGE_ERROR) is True
    if value is _ABSENT:
        return EvaluatedSample(key, None, "absent", judge_error)
    return EvaluatedSample(key, *to_score(value), judge_error)


class _Rows:
    """Rows of the three tables, column by column and without group_id, which is one value for all."""

    def __init__(self) -> None:
        self._columns: dict[str, Columns] = {
            table.name: empty_columns(table)[1:] for table in (EVALUATIONS, SAMPLE_METRICS, SAMPLE_ANNOTATIONS)
        }

    def add(self, protocol: str, key: SampleKey, position: int, record: dict[str, Any], source_file: str) -> None:
        metrics = record["metrics"]
        unfit: tuple[str, ...] = ()
        for place, (name, value) in enumerate(metrics.items()):
            if not is_unicode(name):
                unfit = ("metrics",)  # such a name can be no row; the residue has it
                continue
            number, text, kind = to_columns(value)
            if kind in ("text", "list", "object"):
                if kind == "text" and not is_unicode(value):
                    unfit, text = ("metrics",), as_unicode(value)
                self._append(SAMPLE_ANNOTATIONS, protocol, *key, name, place, text, kind)
            else:
                self._append(SAMPLE_METRICS, protocol, *key, name, place, number, text, kind)
        kept = residue(record, CANONICAL_KEYS, unfit)
        self._append(EVALUATIONS, protocol, *key, position, len(metrics), source_file, kept)

    def _append(self, table: Table, *values: Any) -> None:
        for column, value in zip(self._columns[table.name], values, strict=True):
            column.append(value)

    def batch(self, table: Table, group_id: str) -> pa.RecordBatch:
        columns = self._columns[table.name]
        return to_batch(table, [repeated(group_id, len(columns[0])), *columns])


def denormalize(evaluations: pa.Table, sample_metrics: pa.Table, sample_annotations: pa.Table) -> list[dict[str, Any]]:
    """The content of one file, from the rows of one group and one source file in `evaluations` and all rows of that
    group in the others."""
    metrics: dict[tuple[str, str, int], list[tuple[int, str, Any]]] = {}
    for row in sample_metrics.to_pylist():
        value = from_columns(row["value"], row["value_text"], row["kind"])
        _members(metrics, row).append((row["position"], row["metric"], value))
    for row in sample_annotations.to_pylist():
        value = from_columns(None, row["value"], row["kind"])
        _members(metrics, row).append((row["position"], row["name"], value))
    out = []
    for row in evaluations.sort_by("position").to_pylist():
        members: Iterable[tuple[int, str, Any]] = sorted(_members(metrics, row), key=lambda member: member[0])
        fitted = {
            "test_idx": row["test_idx"],
            "metrics": {name: value for _, name, value in members},
            "dataset": row["dataset"],
        }
        out.append(restore(fitted, row["residue"]))
    return out


def _members(
    metrics: dict[tuple[str, str, int], list[tuple[int, str, Any]]], row: dict[str, Any]
) -> list[tuple[int, str, Any]]:
    return metrics.setdefault((row["protocol"], row["dataset"], row["test_idx"]), [])
