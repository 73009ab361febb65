"""Which groups mean anything: by their failed responses, equal responses and scores out of scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.normalize.group import GroupFacts
from pipelines.normalize.validity import Validity, judge
from tests.built import warehouse_of
from tests.handmade import A_MEM, HandmadeArchive, Keys, build, group_files, group_id, prediction

FAILED = "Error: Unable to generate response."


@pytest.mark.parametrize(
    "facts, value, reasons",
    [
        pytest.param({"n_predictions": 4, "n_failed": 0}, "valid", [], id="nothing wrong"),
        pytest.param({"n_predictions": 4, "n_failed": 1}, "suspect", ["1 of 4 responses failed"], id="one failed"),
        pytest.param({"n_predictions": 4, "n_failed": 2}, "suspect", ["2 of 4 responses failed"], id="half failed"),
        pytest.param({"n_predictions": 4, "n_failed": 3}, "invalid", ["3 of 4 responses failed"], id="most failed"),
        pytest.param({"n_predictions": 1, "n_failed": 0, "all_responses_equal": True}, "valid", [], id="one sample"),
        pytest.param({"n_predictions": 4, "n_failed": 0, "all_responses_equal": True}, "valid", [], id="four equal"),
        pytest.param(
            {"n_predictions": 5, "n_failed": 0, "all_responses_equal": True},
            "suspect",
            ["all 5 responses are equal"],
            id="five equal",
        ),
        pytest.param(
            {"n_predictions": 5, "n_failed": 0, "n_out_of_scale": 2},
            "suspect",
            ["2 scores lie outside their dataset's range"],
            id="out of scale",
        ),
        pytest.param({"n_predictions": None, "n_scores": 0}, None, [], id="nothing to judge by"),
        pytest.param({"n_predictions": None, "n_scores": 3}, None, [], id="scores alone"),
        pytest.param(
            {"n_predictions": None, "n_scores": 3, "n_out_of_scale": 1},
            "suspect",
            ["1 score lies outside its dataset's range"],
            id="scores alone, one of them out of scale",
        ),
    ],
)
def test_a_group_is_judged(facts: dict[str, Any], value: str | None, reasons: list[str]) -> None:
    assert judge(GroupFacts(**facts)) == Validity(value, tuple(reasons))


def test_responses_that_say_nothing_are_failures(tmp_path: Path) -> None:
    """Two of three: invalid. One of three: suspect, which is good to know."""
    archive = HandmadeArchive(tmp_path / "archive")
    expected = set()
    for number, response in enumerate([FAILED, f" {FAILED}\n", "", "  ", None]):
        for n_failed, check, severity in ((2, "invalid_group", "warning"), (1, "suspect_group", "info")):
            keys: Keys = (*A_MEM[:4], f"system {number} {n_failed}")  # type: ignore[assignment]
            predictions = [prediction("Locomo-0", i, f"Answer {i}.") for i in range(3)]
            for record in predictions[:n_failed]:
                record["response"] = response
            archive.add(keys, group_files(predict=predictions, evaluate_details=None, summary=None))
            message = f"{check.removesuffix('_group')}: {n_failed} of 3 responses failed"
            expected.add((check, severity, group_id(keys), message))
    report = build(archive.root, tmp_path / "warehouse")
    assert {(f.check, f.severity, f.group_id, f.message) for f in report.findings} == expected
    assert not report.needs_attention


def test_the_system_that_answered_nothing_is_invalid_and_no_other(real_archive: Path) -> None:
    with duckdb.connect(str(warehouse_of(real_archive) / "memorybench.duckdb"), read_only=True) as connection:
        invalid = connection.execute(
            "SELECT backbone, split, collection, baseline FROM result_groups WHERE validity = 'invalid'"
        ).fetchall()
        assert invalid == [("Mistral-Small-3.2-24B-Instruct-2506", "task", "Long-Short", "wo_memory")]
        called_constant = connection.execute(
            "SELECT min(n_predictions) FROM result_groups WHERE validity_reasons LIKE '%responses are equal%'"
        ).fetchone()
        assert called_constant is not None and called_constant[0] >= 5
        (unnamed,) = connection.execute(
            "SELECT count(*) FROM findings JOIN result_groups USING (group_id) "
            "WHERE validity = 'invalid' AND \"check\" = 'invalid_group'"
        ).fetchall()
        assert unnamed == (1,)
