"""Published values of one summary metric, a query away: what the summary tables are made of."""

from __future__ import annotations

from typing import Any, NamedTuple

from pipelines.archive.json_reader import loads
from pipelines.client.reader import SnapshotReader
from pipelines.normalize.records import is_unicode
from pipelines.normalize.restore import summary_residue
from pipelines.normalize.scalars import from_columns

#: Stands in text columns where the published text is not valid Unicode; the exact text is in the residue then.
_REPLACEMENT = "\ufffd"

_QUERY = """
SELECT
    result_groups.experiment,
    result_groups.backbone,
    result_groups.split,
    result_groups.collection,
    result_groups.baseline,
    result_groups.validity,
    summary_metrics.protocol,
    summary_metrics.kind,
    summary_metrics.value,
    summary_metrics.value_text,
    summary_metrics.source_file,
    CASE WHEN $exact OR contains(summary_metrics.value_text, $replacement) THEN result_groups.residue END AS residue
FROM result_groups
LEFT JOIN summary_metrics
    ON summary_metrics.group_id = result_groups.group_id
    AND summary_metrics.metric = $metric
    AND ($file IS NULL OR summary_metrics.source_file = $file)
WHERE ($experiment IS NULL OR result_groups.experiment = $experiment)
    AND ($split IS NULL OR result_groups.split = $split)
    AND ($collection IS NULL OR result_groups.collection = $collection)
ORDER BY ALL
"""


class SummaryValue(NamedTuple):
    """One group and, where it publishes the metric, its value under one protocol."""

    experiment: str
    backbone: str
    split: str
    collection: str
    baseline: str
    validity: str | None
    protocol: str | None
    is_published: bool
    value: Any


def summary_values(
    reader: SnapshotReader,
    metric: str,
    *,
    experiment: str | None = None,
    split: str | None = None,
    collection: str | None = None,
    file: str | None = None,
) -> list[SummaryValue]:
    """Every group that fits, in the order of the keys, with its published value of `metric`; one query.

    A group that publishes it under two protocols comes twice. `file` restricts to one summary file.
    """
    exact = not is_unicode(metric)
    parameters = {
        "metric": None if exact else metric,
        "exact": exact,
        "replacement": _REPLACEMENT,
        "experiment": experiment,
        "split": split,
        "collection": collection,
        "file": file,
    }
    out = []
    for row in reader.rows(_QUERY, parameters):
        kind, number, text, source_file, residue = row[7:]
        is_published = kind is not None
        value = from_columns(number, text, kind) if is_published else None
        published = _published_whole(residue, source_file or file)
        if metric in published:
            is_published, value = True, published[metric]
        out.append(SummaryValue._make((*row[:7], is_published, value)))
    return out


def _published_whole(group_residue: str | None, file: str | None) -> dict[str, Any]:
    """The object `summary` where it is kept whole, because a text in it is not valid Unicode."""
    residue = summary_residue(group_residue, file) if file else None
    values = loads(residue.encode()).get("values", {}) if residue else {}
    published = values.get("summary", {})
    return published if isinstance(published, dict) else {}
