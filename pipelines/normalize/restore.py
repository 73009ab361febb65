"""The way back: from a group's rows to the content that `json.load` gives for its published files. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pipelines.archive.groups import EVALUATE_DETAILS, PREDICT, RUN_CONFIG, SUMMARY
from pipelines.archive.json_reader import loads
from schemas.model import METRICS

if TYPE_CHECKING:
    import pyarrow as pa

#: Takes a table's name and gives the rows of one group.
GroupTables = Callable[[str], "pa.Table"]


def restore_file(name: str, tables: GroupTables, group_residue: str | None) -> Any:
    """The content of a file that was loaded: one of the four, or another that held evaluations or a summary.

    `group_residue` is the group's result_groups.residue.
    """
    if name == PREDICT:
        from pipelines.normalize import predict

        return predict.denormalize(tables("predictions"), tables("prompts"))
    if name == RUN_CONFIG:
        from pipelines.normalize import run_config

        return run_config.denormalize(tables("run_configs"))
    if name == SUMMARY:
        return _summary(name, tables, group_residue)
    evaluations = _of_file(tables("evaluations"), name)
    if name == EVALUATE_DETAILS or evaluations.num_rows:
        from pipelines.normalize import evaluate_details

        return evaluate_details.denormalize(evaluations, tables("sample_metrics"), tables("sample_annotations"))
    return _summary(name, tables, group_residue)


def _summary(name: str, tables: GroupTables, group_residue: str | None) -> dict[str, Any]:
    import pyarrow.compute as pc

    from pipelines.normalize import summary

    metrics = _of_file(tables("summary_metrics"), name)
    protocol = metrics.column("protocol")[0].as_py() if metrics.num_rows else METRICS
    scores = tables("sample_scores")
    scores = scores.filter(pc.equal(scores.column("protocol"), protocol))
    residue = summary_residue(group_residue, name)
    return summary.denormalize(metrics, _of_file(tables("summary_datasets"), name), scores, residue)


def summary_residue(group_residue: str | None, name: str) -> str | None:
    """The residue of one summary file in the group's."""
    return None if group_residue is None else loads(group_residue.encode()).get(name)


def _of_file(rows: pa.Table, name: str) -> pa.Table:
    import pyarrow.compute as pc

    return rows.filter(pc.equal(rows.column("source_file"), name))
