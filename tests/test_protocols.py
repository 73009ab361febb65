"""An LLM judge's results load beside the benchmark's own, wherever they stand, and never meet them in one number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.handmade import A_MEM, HandmadeArchive, Keys, build, evaluation, group_files

JUDGED: Keys = ("off-policy-judged", *A_MEM[1:])  # type: ignore[assignment]


def judge(score: Any, **more: Any) -> dict[str, Any]:
    return {"llm_judge_score": score, "judge_reason": "Because.", "judge_raw_response": "…", **more}


def judged_details(*scores: Any, **more: Any) -> list[dict[str, Any]]:
    samples = [("Locomo-0", 1), ("Locomo-1", 0), ("NFCats", 3)]
    return [evaluation(*sample, judge(score, **more)) for sample, score in zip(samples, scores, strict=False)]


def judged_summary(*scores: Any) -> dict[str, Any]:
    details = {"Locomo": list(scores[:2]), "NFCats": list(scores[2:])}
    return {"summary": {"metric": "llm_judge_score", "average": 0.5}, "details": details}


def rows(warehouse: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(warehouse / "memorybench.duckdb"), read_only=True) as connection:
        return connection.execute(query).fetchall()


def placed_beside(root: Path) -> HandmadeArchive:
    """Other files beside the four."""
    archive = HandmadeArchive(root)
    extra = {
        "llm_judge_evaluate_details.json": judged_details(0.2, 0.4, 1),
        "llm_judge_summary.json": judged_summary(0.2, 0.4, 1),
    }
    archive.add(A_MEM, {**group_files(), **extra})
    return archive


def placed_in_the_four(root: Path) -> HandmadeArchive:
    """The four names with new content: here the summary is the judge's and the records hold both."""
    archive = HandmadeArchive(root)
    own: list[dict[str, Any]] = group_files()["evaluate_details.json"]
    details = [*own, *judged_details(0.2, 0.4, 1)]
    archive.add(A_MEM, group_files(evaluate_details=details, summary=judged_summary(0.2, 0.4, 1)))
    return archive


def placed_in_another_experiment(root: Path) -> HandmadeArchive:
    """Groups under another experiment."""
    archive = HandmadeArchive(root)
    archive.add(A_MEM)
    files = group_files(evaluate_details=judged_details(0.2, 0.4, 1), summary=judged_summary(0.2, 0.4, 1))
    archive.add(JUDGED, files)
    return archive


@pytest.mark.parametrize("place", [placed_beside, placed_in_the_four, placed_in_another_experiment])
def test_a_judges_results_load_under_their_own_protocol(place: Any, tmp_path: Path) -> None:
    archive = place(tmp_path / "archive")
    report = build(archive.root, tmp_path / "warehouse")
    assert [f for f in report.findings if f.severity == "error"] == []
    scores = rows(
        tmp_path / "warehouse",
        "SELECT dataset, test_idx, score FROM sample_scores WHERE protocol = 'llm_judge' ORDER BY ALL",
    )
    assert scores == [("Locomo-0", 1, 0.2), ("Locomo-1", 0, 0.4), ("NFCats", 3, 1.0)]
    own = rows(
        tmp_path / "warehouse",
        "SELECT dataset, test_idx, score FROM sample_scores WHERE protocol = 'metrics' ORDER BY ALL",
    )
    assert own == [("Locomo-0", 1, 0.5), ("Locomo-1", 0, 1.0), ("NFCats", 3, 4.0)]


@pytest.mark.parametrize("place", [placed_beside, placed_in_the_four, placed_in_another_experiment])
def test_every_view_shows_each_protocol_in_its_own_rows(place: Any, tmp_path: Path) -> None:
    archive = place(tmp_path / "archive")
    build(archive.root, tmp_path / "warehouse")
    means = rows(
        tmp_path / "warehouse",
        "SELECT protocol, dataset_group, mean FROM dataset_results WHERE n > 0 ORDER BY protocol, dataset_group",
    )
    assert [(protocol, name, round(mean, 9)) for protocol, name, mean in means] == [
        ("llm_judge", "Locomo", 0.3),
        ("llm_judge", "NFCats", 1.0),
        ("metrics", "Locomo", 0.75),
        ("metrics", "NFCats", 4.0),
    ]
    assert rows(
        tmp_path / "warehouse", "SELECT count(*) FROM sample_results WHERE protocol = 'llm_judge' AND z IS NOT NULL"
    )[0] == (0,)


def test_a_judge_call_that_failed_is_failed_and_not_zero(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    details = [*judged_details(0.2, 0.4), evaluation("NFCats", 3, judge(0, judge_error=True))]
    archive.add(A_MEM, group_files(evaluate_details=details, summary=judged_summary(0.2, 0.4, 0)))
    build(archive.root, tmp_path / "warehouse")
    assert rows(
        tmp_path / "warehouse", "SELECT score, score_counted, failed FROM sample_scores WHERE dataset = 'NFCats'"
    ) == [(None, 0.0, True)]
    assert rows(tmp_path / "warehouse", "SELECT validity, validity_reasons FROM result_groups") == [
        ("suspect", "1 judge call failed")
    ]


@pytest.mark.parametrize(
    ("scores", "out_of_scale", "validity"),
    [
        pytest.param((0.2, 0.4, 1), [False, False, False], "valid", id="fractions up to one are 0 to 1"),
        pytest.param((2, 7.5, 10), [False, False, False], "valid", id="numbers up to ten are 0 to 10"),
        pytest.param((2, 7, 11), [False, False, True], "suspect", id="eleven is outside"),
        pytest.param((0.2, 7, 10), [None, None, None], "suspect", id="fractions beside sevens could be either"),
    ],
)
def test_a_judges_scale_is_told_by_its_values(
    scores: tuple[float, ...], out_of_scale: list[bool | None], validity: str, tmp_path: Path
) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    files = group_files(evaluate_details=judged_details(*scores), summary=judged_summary(*scores))
    archive.add(A_MEM, files)
    build(archive.root, tmp_path / "warehouse")
    found = rows(tmp_path / "warehouse", "SELECT out_of_scale FROM sample_scores ORDER BY dataset_group, position")
    assert [row[0] for row in found] == out_of_scale
    assert rows(tmp_path / "warehouse", "SELECT validity FROM result_groups") == [(validity,)]
