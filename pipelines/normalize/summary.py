"""summary.json: its bytes to summary_metrics and summary_datasets, and back. No I/O.

Only the key `summary` is required. `details` becomes sample_scores (see scores.py); every other part that does not
come back exactly from its columns is kept whole in the group's residue.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipelines.archive.json_equality import same_json
from pipelines.archive.json_reader import dumps, json_type, loads
from pipelines.errors import BadRecord
from pipelines.findings import Finding
from pipelines.normalize.arrow import to_batch
from pipelines.normalize.evaluate_details import JUDGE_SCORE
from pipelines.normalize.records import as_unicode, is_unicode, residue, restore
from pipelines.normalize.scalars import Value, from_columns, to_columns
from pipelines.normalize.scores import check_details, details_shape
from schemas.contracts import SUMMARY
from schemas.model import LLM_JUDGE, METRICS
from schemas.summary_datasets import TABLE as SUMMARY_DATASETS
from schemas.summary_metrics import TABLE as SUMMARY_METRICS

AVERAGE = "average"
MINMAX = "minmax_normalized_average"
Z = "z_normalized_average"
CANONICAL_KEYS = SUMMARY.canonical_keys


@dataclass(frozen=True)
class Summary:
    """One summary file. `details` is None where nothing usable is published; `residue` goes into result_groups."""

    protocol: str
    metrics_rows: list[tuple[Any, ...]]
    datasets_rows: list[tuple[Any, ...]]
    details: Mapping[str, Sequence[Any]] | None
    residue: str | None
    findings: list[Finding]

    def summary_metrics(self, group_id: str) -> pa.RecordBatch:
        return _batch(SUMMARY_METRICS, group_id, self.metrics_rows)

    def summary_datasets(self, group_id: str) -> pa.RecordBatch:
        return _batch(SUMMARY_DATASETS, group_id, self.datasets_rows)


def looks_like_summary(document: Any) -> bool:
    """Whether a file of another name holds a summary."""
    return type(document) is dict and type(document.get("summary")) is dict


def normalize(data: bytes, group_id: str, source_file: str, path: str) -> Summary:
    """The rows of one file. `path` is the file's place in the archive, for findings.

    Raises:
        BadRecord: not JSON, not an object, or without an object `summary`.
    """
    document = loads(data)
    if type(document) is not dict:
        raise BadRecord(f"expected an object at the top, found {json_type(document)}")
    for key in SUMMARY.required_keys:
        if key not in document:
            raise BadRecord(f"required key {key!r} is missing")
    published = document["summary"]
    if type(published) is not dict:
        raise BadRecord(f"summary is {json_type(published)}, expected an object")
    protocol = LLM_JUDGE if published.get("metric") == JUDGE_SCORE else METRICS
    findings = []
    details = None
    if "details" in document:
        details = check_details(document["details"])
        if details is None:
            message = (
                f"details is {details_shape(document['details'])}, expected dataset to list: no score is read from it"
            )
            findings.append(Finding("summary_shape", "warning", message, group_id=group_id, file=path))
        elif not all(map(is_unicode, details)):
            details = {as_unicode(name): scores for name, scores in details.items()}
    metrics_rows = [
        (protocol, name, place, *_published(value), source_file)
        for place, (name, value) in enumerate(published.items())
        if is_unicode(name)
    ]
    datasets_rows = _dataset_rows(protocol, document, source_file)
    fitted = _fitted(metrics_rows, datasets_rows, details)
    unfit = [key for key in document if key in CANONICAL_KEYS and not same_json(fitted.get(key), document[key])]
    kept = residue(document, CANONICAL_KEYS, unfit)
    return Summary(protocol, metrics_rows, datasets_rows, details, kept, findings)


def _published(value: Any) -> Value:
    """A value of a summary as columns hold it. A boolean is JSON text: as a number it would be 1, the best mean that
    there can be."""
    if type(value) is bool:
        return Value(None, dumps(value), "bool")
    number, text, kind = to_columns(value)
    return Value(number, as_unicode(text) if text is not None else None, kind)


def _dataset_rows(protocol: str, document: Mapping[str, Any], source_file: str) -> list[tuple[Any, ...]]:
    parts = {key: value for key in (AVERAGE, MINMAX, Z, "details") if type(value := document.get(key)) is dict}
    names = list(dict.fromkeys(name for part in parts.values() for name in part if is_unicode(name)))
    return [
        (
            protocol,
            name,
            place,
            _number(parts.get(AVERAGE, {}).get(name)),
            *_triple(parts.get(MINMAX, {}).get(name)),
            *_triple(parts.get(Z, {}).get(name)),
            source_file,
        )
        for place, name in enumerate(names)
    ]


def _number(value: Any) -> float | None:
    return _published(value).number


def _triple(value: Any) -> tuple[float | None, float | None, float | None]:
    if type(value) is not list or len(value) != 3:
        return None, None, None
    return _number(value[0]), _number(value[1]), _number(value[2])


def _fitted(
    metrics_rows: Sequence[tuple[Any, ...]],
    datasets_rows: Sequence[tuple[Any, ...]],
    details: Mapping[str, Sequence[Any]] | None,
) -> dict[str, Any]:
    """The canonical document that the rows alone give back. Numbers of datasets are read as floats, counts as
    integers; a document that has it otherwise differs from this one and so goes to the residue."""
    fitted: dict[str, Any] = {
        "summary": {name: from_columns(number, text, kind) for _, name, _, number, text, kind, _ in metrics_rows}
    }
    average: dict[str, Any] = {}
    minmax: dict[str, Any] = {}
    z: dict[str, Any] = {}
    for row in datasets_rows:
        name = row[1]
        if row[3] is not None:
            average[name] = row[3]
        for target, (total, count, mean) in ((minmax, row[4:7]), (z, row[7:10])):
            if None not in (total, count, mean) and float(count).is_integer():
                target[name] = [total, int(count), mean]
    fitted.update({AVERAGE: average, MINMAX: minmax, Z: z})
    fitted["details"] = {
        row[1]: [_score_as_columns_give_it(value) for value in details[row[1]]]
        for row in datasets_rows
        if details and details.get(row[1])
    }
    return fitted


def _score_as_columns_give_it(value: Any) -> Any:
    """What sample_scores gives back for a published score; see `score_from_columns`."""
    number, text, kind = to_columns(value)
    return (
        number if text is not None or kind not in ("bool", "int", "float", "null") else score_from_columns(number, kind)
    )


def score_from_columns(score_counted: float | None, kind: str) -> Any:
    """A published score, from score_counted and kind; None also for an integer that no float holds, which the residue
    has."""
    if kind == "int" and score_counted is not None and math.isinf(score_counted):
        return None
    return from_columns(score_counted, None, kind) if kind in ("bool", "int", "float") else None


def denormalize(
    summary_metrics: pa.Table, summary_datasets: pa.Table, sample_scores: pa.Table, residue_text: str | None
) -> dict[str, Any]:
    """The content of one summary file, from the rows of one group and file (and, for sample_scores, one protocol)."""
    metrics_rows = [tuple(row.values())[1:] for row in summary_metrics.sort_by("position").to_pylist()]
    datasets_rows = [tuple(row.values())[1:] for row in summary_datasets.sort_by("position").to_pylist()]
    scores: dict[str, list[Any]] = {row[1]: [] for row in datasets_rows}
    for row in sample_scores.sort_by("position").to_pylist():
        if row["origin"] == "published":
            scores.setdefault(row["dataset_group"], []).append(score_from_columns(row["score_counted"], row["kind"]))
    fitted = _fitted(metrics_rows, datasets_rows, None)
    fitted["details"] = {name: values for name, values in scores.items() if values}
    return restore(fitted, residue_text)


def _batch(table: Any, group_id: str, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) if rows else [()] * (len(table.columns) - 1)
    return to_batch(table, [[group_id] * len(rows), *columns])
