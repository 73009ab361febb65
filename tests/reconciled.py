"""Summaries whose numbers follow from their scores, and snapshots to spoil."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipelines.load.snapshots import Warehouse
from schemas.reference.normalization import normalization_of
from tests.handmade import Keys, evaluation, group_files, prediction


def summary_of(keys: Keys, details: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """A complete summary by the published formulas."""
    out: dict[str, Any] = {
        "summary": {},
        "average": {},
        "minmax_normalized_average": {},
        "z_normalized_average": {},
        "details": {name: list(scores) for name, scores in details.items()},
    }
    for name, scores in details.items():
        row = normalization_of(keys[2], keys[3], name)
        assert row is not None, name
        minmax = [(s - row.minimum) / (row.maximum - row.minimum) for s in scores]
        z = [(s - row.mu) / row.sigma for s in scores]
        out["average"][name] = sum(scores) / len(scores)
        out["minmax_normalized_average"][name] = [sum(minmax), len(scores), sum(minmax) / len(scores)]
        out["z_normalized_average"][name] = [sum(z), len(scores), sum(z) / len(scores)]
    minmax_sums = out["minmax_normalized_average"].values()
    count = sum(triple[1] for triple in minmax_sums)
    out["summary"] = {
        "average": sum(triple[2] for triple in minmax_sums) / len(details),
        "weighted_average": sum(triple[0] for triple in minmax_sums) / count,
        "z_score": sum(triple[0] for triple in out["z_normalized_average"].values()) / count,
    }
    return out


def reconciled_files(keys: Keys, **replaced: Any) -> dict[str, Any]:
    """The files of a group with one sample of NFCats (4) and two of Locomo (0.5 and 1), right in every number."""
    if "summary" not in replaced:
        replaced["summary"] = summary_of(keys, {"Locomo": [0.5, 1], "NFCats": [4]})
    return group_files(**replaced)


def nfcats_files(keys: Keys, scores: Sequence[Any], details: Sequence[float]) -> dict[str, Any]:
    """The files of a group that answered NFCats alone: `scores` are the metric's values, `details` what is published."""
    return group_files(
        predict=[prediction("NFCats", i, f"Answer {i}.") for i in range(len(scores))],
        evaluate_details=[evaluation("NFCats", i, {"score": score}) for i, score in enumerate(scores)],
        summary=summary_of(keys, {"NFCats": details}),
    )


def snapshot_copy(warehouse: Path, target: Path) -> Path:
    """A copy of the published snapshot, to be changed."""
    shutil.copytree(Warehouse(warehouse).require_current().path, target)
    return target
