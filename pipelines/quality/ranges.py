"""The suites that hold metrics and scores against the ranges of the reference data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.load.views import literal, quoted
from pipelines.quality.suite import Expectation, Suite, range_text
from schemas.model import LLM_JUDGE, METRICS
from schemas.reference.datasets import MetricRange, metric_range, score_range

if TYPE_CHECKING:
    import duckdb

#: The widest scale that a judge's scores were seen on; which of the known scales a group has is told by its values.
JUDGE_RANGE = (0.0, 10.0)


def metric_range_suites(connection: duckdb.DuckDBPyConnection) -> list[Suite]:
    """Each finite metric of a known range within it. One frame of samples with a column for each range, so that all
    ranges cost one pass; a metric without a range is data like any other."""
    observed = connection.execute("SELECT DISTINCT dataset, metric FROM sample_metrics ORDER BY ALL").fetchall()
    by_range: dict[MetricRange, list[tuple[str, str]]] = {}
    for dataset, metric in observed:
        known = metric_range(dataset, metric)
        if known is not None and not (known.minimum is None and known.maximum is None):
            by_range.setdefault(known, []).append((dataset, metric))
    if not by_range:
        return []
    columns = {f"{known.dataset_pattern} {known.metric}": pairs for known, pairs in by_range.items()}
    conditions = {}
    for column, pairs in columns.items():
        names = ", ".join(literal(dataset) for dataset, _ in pairs)
        conditions[column] = f"dataset IN ({names}) AND metric = {literal(pairs[0][1])}"
    labels = ("protocol", "dataset", "test_idx")
    columns_of_ranges = ", ".join(
        f"any_value(value) FILTER ({condition}) AS {quoted(column)}" for column, condition in conditions.items()
    )
    query = f"""
        SELECT group_id, {", ".join(labels)}, {columns_of_ranges} FROM sample_metrics WHERE isfinite(value)
        GROUP BY ALL ORDER BY group_id, {", ".join(labels)}
    """
    expectations = tuple(
        _in_range("metric_range", column, known.minimum, known.maximum)
        for column, known in zip(columns, by_range, strict=True)
    )
    return [Suite("metric_ranges", query, labels, expectations, "evaluations")]


def score_range_suites(connection: duckdb.DuckDBPyConnection) -> list[Suite]:
    """Each finite score within the published range of its dataset; a judge's within the widest scale known."""
    observed = connection.execute("SELECT DISTINCT protocol, dataset_group FROM sample_scores ORDER BY ALL").fetchall()
    conditions: dict[str, str] = {}
    ranges: dict[str, tuple[float, float]] = {}
    for protocol, name in observed:
        limits = score_range(name, protocol)
        if protocol == METRICS and limits is not None:
            ranges[name] = limits
            conditions[name] = f"protocol = {literal(METRICS)} AND dataset_group = {literal(name)}"
        elif protocol == LLM_JUDGE:
            ranges[LLM_JUDGE] = JUDGE_RANGE
            conditions[LLM_JUDGE] = f"protocol = {literal(LLM_JUDGE)}"
    if not ranges:
        return []
    labels = ("protocol", "dataset_group", "dataset", "test_idx", "position")
    columns_of_ranges = ", ".join(
        f"CASE WHEN {condition} THEN score END AS {quoted(column)}" for column, condition in conditions.items()
    )
    query = f"SELECT group_id, {', '.join(labels)}, {columns_of_ranges} FROM sample_scores WHERE isfinite(score)"
    expectations = tuple(_in_range("score_range", column, *limits) for column, limits in ranges.items())
    return [Suite("score_ranges", query, labels, expectations, "sample_scores")]


def _in_range(check: str, column: str, minimum: float | None, maximum: float | None) -> Expectation:
    return Expectation(
        check,
        "ExpectColumnValuesToBeBetween",
        {"column": column, "min_value": minimum, "max_value": maximum},
        f"{column} lies {range_text(minimum, maximum)}",
        severity="warning",
        blocks=False,
    )
