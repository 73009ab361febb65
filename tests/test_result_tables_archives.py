"""The standard tables over archives that lack what tables are made of, and over names that are hostile."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.cli import main
from pipelines.load.snapshots import DATABASE
from pipelines.load.views import literal
from tests.handmade import HandmadeArchive, Keys, build, evaluation, group_files, prediction
from tests.reconciled import summary_of

TABLES = ("memory_gain", "collection_rankings", "leaderboard", "baseline_comparison", "weighted_average")
SCORES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.2, 0.1)
#: ROUGE-L lies between 0 and 1: two scores of the first dataset do not, one of the second.
OUT_OF_SCALE = (1.5, -0.1, 0.3, 0.4, 0.5, 0.6, 0.2, 7.0)
HOSTILE = ("a|b`<b>x</b>", "*x*", "[x]", "' OR 1=1 --", '"q"', "数据", "x" * 80, "Split", "spLit", "-", "50% & #{$}~^")


def _keys(experiment: str, baseline: str) -> Keys:
    return (experiment, "Q", "domain", "Legal", baseline)


def _files(keys: Keys, scores: Sequence[float] = SCORES, *, failed: bool = False) -> dict[str, Any]:
    """A group with half of its samples in each of two datasets."""
    half = len(scores) // 2
    details = {"LexEval-QA": list(scores[:half]), "LexEval-Judge": list(scores[half:])}
    answer = "Error: Unable to generate response." if failed else "Answer {} of {}."
    return group_files(
        predict=[prediction(d, i, answer.format(i, d)) for d, of in details.items() for i in range(len(of))],
        evaluate_details=[evaluation(d, i, {"rougel": s}) for d, of in details.items() for i, s in enumerate(of)],
        summary=summary_of(keys, details),
    )


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each case is an experiment of its own, named after what is special about it."""
    root = tmp_path_factory.mktemp("archives")
    archive = HandmadeArchive(root / "archive")

    def add(experiment: str, baseline: str, scores: Sequence[float] = SCORES, *, failed: bool = False) -> None:
        keys = _keys(experiment, baseline)
        archive.add(keys, _files(keys, scores, failed=failed))

    add("one", "a_mem")
    for baseline in ("a_mem", "mem0", "wo_memory"):
        add("constant", baseline, [0.3] * 8)
    add("nan", "wo_memory")
    add("nan", "a_mem", [math.nan] * 8)
    add("nan", "mem0", [math.nan, math.inf, *SCORES[2:]])
    for baseline in ("a_mem", "wo_memory"):
        add("failed", baseline, failed=True)
    add("scale", "wo_memory")
    add("scale", "a_mem", OUT_OF_SCALE)
    for number, baseline in enumerate(("wo_memory", *HOSTILE)):
        add("hostile", baseline, [score + number / 100 for score in SCORES])
    build(archive.root, root / "warehouse")
    return root / "warehouse"


def _rows(warehouse: Path, query: str, experiment: str | None = None) -> list[tuple[Any, ...]]:
    """The rows of a query that has no WHERE, or of one experiment, in order."""
    where = f" WHERE experiment = {literal(experiment)}" if experiment else ""
    with duckdb.connect(str(warehouse / DATABASE), read_only=True) as connection:
        return connection.execute(f"{query}{where} ORDER BY ALL NULLS LAST").fetchall()


def _printed(warehouse: Path, name: str, style: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(["table", name, "--format", style, "--warehouse", str(warehouse)])
    assert status == 0, err.getvalue()
    return out.getvalue()


def test_one_system_is_ranked_first_and_compared_with_nobody(warehouse: Path) -> None:
    assert _rows(warehouse, "SELECT delta, excluded FROM memory_gain", "one") == [
        (None, "there is no wo_memory to compare with")
    ]
    assert _rows(warehouse, "SELECT rank, n_ranked, rating, rating_pool FROM leaderboard", "one") == [
        (1, 1, None, "not rated: there is no second system to compare")
    ]
    assert _rows(warehouse, "SELECT * FROM baseline_comparison", "one") == []


def test_scores_that_never_differ_are_no_certainty(warehouse: Path) -> None:
    assert (
        _rows(warehouse, "SELECT delta, ci_low, on_these_datasets, to_other_datasets FROM memory_gain", "constant")
        == [(0.0, None, "cannot tell", "cannot tell")] * 2
    )
    assert (
        _rows(warehouse, "SELECT rank, rating, rating_low, rank_low, rank_high FROM collection_rankings", "constant")
        == [(1, 1000.0, None, None, None)] * 3
    )
    lines = [line for line in _printed(warehouse, "leaderboard", "markdown").splitlines() if "| constant |" in line]
    assert [line.count("cannot tell") for line in lines] == [2, 2, 2]


def test_nan_and_infinity_are_left_out_and_said(warehouse: Path) -> None:
    gains = "SELECT baseline, n, n_not_finite, excluded FROM memory_gain"
    assert _rows(warehouse, gains, "nan") == [("a_mem", None, None, "no difference is finite"), ("mem0", 6, 2, None)]
    ranked = "SELECT rank, excluded FROM collection_rankings"
    unranked = (None, "no finite weighted_average is published")
    assert _rows(warehouse, ranked, "nan") == [(1, None), unranked, unranked]


@pytest.mark.parametrize("origin", ["published", "derived"])
def test_an_integer_that_no_float_holds_is_not_finite_and_no_zero(tmp_path: Path, origin: str) -> None:
    keys = _keys("huge", "a_mem")
    scores = [10**400, -(10**400), *SCORES[2:]]
    files = _files(keys)
    for record, score in zip(files["evaluate_details.json"], scores, strict=True):
        record["metrics"]["rougel"] = score
    files["summary.json"]["details"]["LexEval-QA"][:2] = scores[:2]
    if origin == "derived":
        del files["summary.json"]
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(keys, files)
    report = build(archive.root, tmp_path / "warehouse")
    found = _rows(tmp_path / "warehouse", "SELECT score, score_counted, kind, out_of_scale, origin FROM sample_scores")
    assert found[0] == (-math.inf, -math.inf, "int", True, origin)
    assert found[-1] == (math.inf, math.inf, "int", True, origin)
    query = "SELECT n_not_finite, recomputed_average, recomputed_weighted_average, recomputed_z_score FROM results"
    assert _rows(tmp_path / "warehouse", query) == [(2, None, None, None)]
    query = "SELECT n, mean, recomputed_average FROM dataset_results"
    (_, (n, mean, recomputed)) = sorted(_rows(tmp_path / "warehouse", query), key=lambda row: -row[0])
    assert (n, mean, recomputed) == (2, pytest.approx(math.fsum(SCORES[2:4]) / 2), None)
    messages = [finding.message for finding in report.findings if finding.check == "not_finite"]
    assert "2 values of the score of LexEval-QA are NaN or infinite (protocol metrics)" in messages
    # Published, it cannot be held against its metric, which fits no number either; derived, it is its metric.
    unchecked = "reconcile_scores cannot be checked for 2 published numbers in 1 groups: the main metric does not fit a"
    found_checks = [f.message for f in report.findings if "reconcile_scores" in (f.check, f.message.split()[0])]
    assert found_checks == ([f"{unchecked} number"] if origin == "published" else [])


def test_scores_out_of_scale_are_counted_and_used_as_published(warehouse: Path) -> None:
    half = len(OUT_OF_SCALE) // 2
    outside = [sum(not 0 <= score <= 1 for score in of) for of in (OUT_OF_SCALE[:half], OUT_OF_SCALE[half:])]
    query = "SELECT baseline, dataset_group, n_out_of_scale, mean FROM dataset_results"
    means = [math.fsum(of) / half for of in (OUT_OF_SCALE[:half], OUT_OF_SCALE[half:], SCORES[:half], SCORES[half:])]
    found = _rows(warehouse, query, "scale")
    assert [row[:3] for row in found] == [
        ("a_mem", "LexEval-Judge", outside[1]),
        ("a_mem", "LexEval-QA", outside[0]),
        ("wo_memory", "LexEval-Judge", 0),
        ("wo_memory", "LexEval-QA", 0),
    ]
    assert [row[3] for row in found] == pytest.approx([means[1], means[0], means[3], means[2]])
    assert _rows(warehouse, "SELECT baseline, n_out_of_scale FROM results", "scale") == [("a_mem", 3), ("wo_memory", 0)]
    # The gain is the difference of the published averages, in which they are.
    ((gain,),) = _rows(warehouse, "SELECT delta FROM memory_gain", "scale")
    published = dict(_rows(warehouse, "SELECT baseline, weighted_average FROM results", "scale"))
    assert gain == pytest.approx(published["a_mem"] - published["wo_memory"])
    assert gain > 1


def test_where_all_failed_nothing_is_ranked_and_everything_says_why(warehouse: Path) -> None:
    why = "8 of 8 responses failed; all 8 responses are equal"
    ((gain, excluded),) = _rows(warehouse, "SELECT delta, excluded FROM memory_gain", "failed")
    assert gain is None and excluded == f"a_mem is invalid: {why}; wo_memory is invalid: {why}"
    ranked = _rows(warehouse, "SELECT rank, weighted_average, rating, excluded FROM collection_rankings", "failed")
    assert ranked == [(None, None, None, f"invalid: {why}")] * 2
    board = _rows(warehouse, "SELECT rank, mean_weighted_average, missing_collections FROM leaderboard", "failed")
    assert board == [(None, None, "no system is ranked in any collection")] * 2
    assert _rows(warehouse, "SELECT count(rank), count(weighted_average) FROM collection_rankings_all", "failed") == [
        (2, 2)
    ]


def test_hostile_names_are_names_in_every_format(warehouse: Path) -> None:
    for name in TABLES:
        text = _printed(warehouse, name, "markdown")
        rows = [line for line in text.splitlines() if line.startswith("|")]  # the notes stand below
        n_columns = {line.replace("\\|", "").count("|") for line in rows}
        assert len(n_columns) == 1, name
        assert "<b>" not in text.replace("\\<b\\>", "")
        latex = _printed(warehouse, name, "latex")
        (columns,) = {line.count("&") - line.count("\\&") for line in latex.splitlines() if line.endswith(" \\\\")}
        layout = latex.split("\\begin{tabular}{")[1].split("}")[0]
        assert columns == len(layout) - 1, name
    rows = json.loads(_printed(warehouse, "memory_gain", "json"))
    assert {row["baseline"] for row in rows if row["experiment"] == "hostile"} == set(HOSTILE)


def test_revision_changes_are_the_differences_of_two_archives(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    before = {_keys("off-policy", name): _files(_keys("off-policy", name)) for name in ("a_mem", "mem0", "wo_memory")}
    after = {
        _keys("off-policy", "a_mem"): _files(_keys("off-policy", "a_mem"), [*SCORES[:-1], 0.9]),
        _keys("off-policy", "uno"): _files(_keys("off-policy", "uno")),
        _keys("off-policy", "wo_memory"): before[_keys("off-policy", "wo_memory")],
    }
    for groups in (before, after):
        archive.lines.clear()
        for keys, files in groups.items():
            archive.add(keys, files)
        build(archive.root, tmp_path / "warehouse")

    def numbers(groups: dict[Keys, dict[str, Any]]) -> dict[tuple[str, str], float]:
        return {
            (keys[4], metric): value
            for keys, files in groups.items()
            for metric, value in files["summary.json"]["summary"].items()
        }

    old, new = numbers(before), numbers(after)
    expected = {key: (old.get(key), new.get(key)) for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    query = "SELECT baseline, metric, old_value, new_value FROM revision_changes WHERE dataset_group IS NULL"
    found = _rows(tmp_path / "warehouse", query)
    assert {row[:2]: row[2:] for row in found} == expected
    assert len(found) == len(expected) == 9
