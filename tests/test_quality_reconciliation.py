"""Published numbers against the scores: what differs is found with both numbers, what is missing cannot be checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from pipelines.findings import Finding
from pipelines.quality.audits import create_relations, list_audits, reconciliation_outcomes
from pipelines.quality.validation import opened
from tests.built import warehouse_of
from tests.handmade import (
    A_MEM,
    MEM0,
    WO_MEMORY,
    HandmadeArchive,
    Keys,
    build,
    evaluation,
    folder,
    group_files,
    group_id,
)
from tests.reconciled import nfcats_files, reconciled_files, summary_of

NO_DETAILS = "no scores are published (details)"
NO_CONSTANTS = "the constants of a dataset are unknown"
OTHER_PROTOCOL = "the constants of this protocol are not published"

#: What came of one group: passed, failed, cannot be checked, and why not, for each check.
GroupOutcomes = dict[str, tuple[int, int, int, tuple[str, ...]]]
Change = Callable[[dict[str, Any]], tuple[float, float]]


def system(name: str) -> Keys:
    return ("off-policy", "Qwen3-8B", "domain", "Open-Domain", name)


def _without_details() -> dict[str, Any]:
    files = reconciled_files(A_MEM)
    del files["summary.json"]["details"]
    files["summary.json"]["summary"]["average"] = 99.0
    return files


def _with_some_details() -> dict[str, Any]:
    files = reconciled_files(A_MEM)
    del files["summary.json"]["details"]["Locomo"]
    return files


def _off_by_the_last_digits() -> dict[str, Any]:
    files = reconciled_files(A_MEM)
    files["summary.json"]["summary"]["average"] += 5e-10
    return files


def _of_an_unknown_dataset() -> dict[str, Any]:
    summary = summary_of(A_MEM, {"NFCats": [4]})
    summary["details"] = {"A new one": [4]}
    for part in ("average", "minmax_normalized_average", "z_normalized_average"):
        summary[part] = {"A new one": summary[part]["NFCats"]}
    records = [evaluation("A new one", 1, {"quality": 4})]
    return group_files(summary=summary, evaluate_details=records, predict=None)


def _judged() -> dict[str, Any]:
    return {
        **reconciled_files(A_MEM),
        "evaluate_details_judge.json": [evaluation("NFCats", 3, {"llm_judge_score": 0.5, "judge_error": False})],
        "summary_judge.json": {
            "summary": {"metric": "llm_judge_score", "average": 7.0, "weighted_average": 7.0},
            "average": {"NFCats": 0.6},
            "minmax_normalized_average": {"NFCats": [9.0, 1, 9.0]},
            "details": {"NFCats": [0.5]},
        },
    }


CASES: dict[str, dict[str, Any]] = {
    "right": reconciled_files(A_MEM),
    "off by the last digits": _off_by_the_last_digits(),
    "other scores": nfcats_files(A_MEM, [4, 3, 5], [4, 2, 5]),
    "null, text and true": nfcats_files(A_MEM, [None, "no score", True, 1.0], [0, 0, 1, 1]),
    "no details": _without_details(),
    "some details": _with_some_details(),
    "an unknown dataset": _of_an_unknown_dataset(),
    "not finite": nfcats_files(A_MEM, [4.0, float("nan")], [4.0, float("nan")]),
    "judged": _judged(),
}
OTHER_SPLIT: Keys = MEM0


class Cases:
    """One warehouse with a group for each case, and what was found in it."""

    def __init__(self, root: Path) -> None:
        archive = HandmadeArchive(root / "archive")
        for name, files in CASES.items():
            archive.add(system(name), files)
        locomo = [evaluation("Locomo-0", 1, {"f1": 0.5})]
        summary = summary_of(OTHER_SPLIT, {"Locomo": [0.5]})
        archive.add(OTHER_SPLIT, group_files(predict=None, evaluate_details=locomo, summary=summary))
        self.findings = build(archive.root, root / "warehouse").findings
        self._outcomes = outcomes_of(root / "warehouse")

    def of(self, keys: Keys) -> list[Finding]:
        """What reconciliation found in a group."""
        return [f for f in self.findings if f.group_id == group_id(keys) and f.check.startswith("reconcile_")]

    def outcomes(self, keys: Keys) -> GroupOutcomes:
        return self._outcomes[group_id(keys)]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    return Cases(tmp_path_factory.mktemp("cases"))


def outcomes_of(warehouse: Path) -> dict[str, GroupOutcomes]:
    with opened((warehouse / "current").resolve(), read_only=True) as connection:
        create_relations(connection)
        groups: dict[str, GroupOutcomes] = {}
        for outcome in reconciliation_outcomes(connection):
            counts = (outcome.passed, outcome.failed, outcome.unchecked, outcome.reasons)
            groups.setdefault(outcome.group_id, {})[outcome.check] = counts
    return groups


ALL_RIGHT: GroupOutcomes = {
    "reconcile_average": (2, 0, 0, ()),
    "reconcile_minmax": (6, 0, 0, ()),
    "reconcile_z": (6, 0, 0, ()),
    "reconcile_summary": (3, 0, 0, ()),
    "reconcile_scores": (3, 0, 0, ()),
}


@pytest.mark.parametrize("name", ["right", "off by the last digits"])
def test_right_numbers_pass(cases: Cases, name: str) -> None:
    assert cases.of(system(name)) == []
    assert cases.outcomes(system(name)) == ALL_RIGHT


def test_scores_that_are_not_the_main_metric_are_found(cases: Cases) -> None:
    keys = system("other scores")
    assert cases.of(keys) == [
        Finding(
            "reconcile_scores",
            "error",
            "1 of 3 published scores of NFCats differ from the metric score, as in NFCats 1 (published 2.0, metric 3.0)",
            group_id=group_id(keys),
            file=f"{folder(keys)}/summary.json",
            dataset="NFCats",
        )
    ]


def test_the_publisher_counts_null_and_text_as_0_and_true_as_1(cases: Cases) -> None:
    assert cases.of(system("null, text and true")) == []
    assert cases.outcomes(system("null, text and true"))["reconcile_scores"] == (4, 0, 0, ())


def test_without_details_nothing_is_passed_or_faulted(cases: Cases) -> None:
    assert cases.of(system("no details")) == []
    assert cases.outcomes(system("no details")) == {
        "reconcile_average": (0, 0, 2, (NO_DETAILS,)),
        "reconcile_minmax": (0, 0, 6, (NO_DETAILS,)),
        "reconcile_z": (0, 0, 6, (NO_DETAILS,)),
        "reconcile_summary": (0, 0, 3, (NO_DETAILS,)),
    }


def test_details_of_some_datasets_leave_the_numbers_over_all_open(cases: Cases) -> None:
    assert cases.of(system("some details")) == []
    assert cases.outcomes(system("some details")) == {
        "reconcile_average": (1, 0, 1, (NO_DETAILS,)),
        "reconcile_minmax": (3, 0, 3, (NO_DETAILS,)),
        "reconcile_z": (3, 0, 3, (NO_DETAILS,)),
        "reconcile_summary": (0, 0, 3, (NO_DETAILS,)),
        "reconcile_scores": (1, 0, 0, ()),
    }


def test_unknown_constants_are_a_finding_and_leave_normalised_numbers_open(cases: Cases) -> None:
    assert [f for f in cases.findings if f.check == "unknown_constants"] == [
        Finding(
            "unknown_constants",
            "warning",
            "no constants are known for A new one in domain/Open-Domain: the 1 scores of 1 groups have neither a "
            "min-max score nor a z",
            dataset="A new one",
        )
    ]
    assert cases.outcomes(system("an unknown dataset")) == {
        "reconcile_average": (1, 0, 0, ()),
        "reconcile_minmax": (0, 0, 3, (NO_CONSTANTS,)),
        "reconcile_z": (0, 0, 3, (NO_CONSTANTS,)),
        "reconcile_summary": (0, 0, 3, (NO_CONSTANTS,)),
    }


def test_scores_that_are_not_finite_cannot_be_checked(cases: Cases) -> None:
    keys = system("not finite")
    assert cases.of(keys) == []
    assert sorted(f.message for f in cases.findings if f.check == "not_finite") == [
        "1 values of the metric score are NaN or infinite (protocol metrics)",
        "1 values of the score of NFCats are NaN or infinite (protocol metrics)",
    ]
    assert cases.outcomes(keys)["reconcile_average"] == (0, 0, 1, ("a score is not finite",))
    assert cases.outcomes(keys)["reconcile_scores"] == (2, 0, 0, ()), "NaN is NaN"


def test_published_numbers_that_are_none_are_found(tmp_path: Path) -> None:
    """NaN, infinities, integers past every float, texts, booleans and lists, of a group and of a dataset."""
    summary = summary_of(A_MEM, {"Locomo": [0.5, 1], "NFCats": [4]})
    summary["summary"] |= {"average": float("nan"), "weighted_average": float("inf"), "z_score": -(10**400)}
    summary["average"]["NFCats"] = float("nan")
    summary["z_normalized_average"]["Locomo"][0] = float("-inf")
    text = {"summary": {"average": 0.5, "weighted_average": "0.48", "z_score": "none", "more": "1e3", "metric": "f1"}}
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM, group_files(summary=summary))
    archive.add(WO_MEMORY, group_files(summary=text))
    others = summary_of(MEM0, {"Locomo": [0.5, 1]})
    others["summary"] |= {"average": True, "weighted_average": [0.5], "z_score": {}, "more": False}
    others["average"]["Locomo"] = True
    archive.add(MEM0, group_files(summary=others))
    found = build(archive.root, tmp_path / "warehouse").findings
    infinite = "which is no finite number (protocol metrics)"
    assert {
        (f.severity, f.group_id, f.message) for f in found if f.check in ("published_not_finite", "published_no_number")
    } == {
        ("warning", group_id(A_MEM), f"the published average is nan, {infinite}"),
        ("warning", group_id(A_MEM), f"the published weighted_average is inf, {infinite}"),
        ("warning", group_id(A_MEM), f"the published z_score is an integer past every float, {infinite}"),
        ("warning", group_id(A_MEM), f"the published average of NFCats is nan, {infinite}"),
        ("warning", group_id(A_MEM), f"the published z_sum of Locomo is -inf, {infinite}"),
        *(
            (
                "warning",
                group_id(WO_MEMORY),
                f'the published {metric} is the text "{value}", not a number: it counts as not published '
                "(protocol metrics)",
            )
            for metric, value in (("weighted_average", "0.48"), ("z_score", "none"), ("more", "1e3"))
        ),
        *(
            (
                "warning",
                group_id(MEM0),
                f"the published {metric} is {value}, not a number: it counts as not published (protocol metrics)",
            )
            for metric, value in (("average", "true"), ("weighted_average", "a list"), ("z_score", "an object"))
        ),
    }
    with opened((tmp_path / "warehouse" / "current").resolve(), read_only=True) as connection:
        assert connection.sql("SELECT rank FROM collection_rankings WHERE rank IS NOT NULL").fetchall() == []
        assert connection.sql("SELECT average FROM results WHERE baseline = 'mem0'").fetchall() == [(None,)]
        of_locomo = "FROM dataset_results WHERE baseline = 'mem0' AND dataset_group = 'Locomo'"
        assert connection.sql(f"SELECT average {of_locomo}").fetchall() == [(None,)]


def test_of_a_judge_only_averages_are_held_against_its_scores(cases: Cases) -> None:
    keys = system("judged")
    (fault,) = cases.of(keys)
    assert (fault.check, fault.file) == ("reconcile_average", f"{folder(keys)}/summary_judge.json")
    assert fault.message == "average of NFCats is published as 0.6; the published scores give 0.5 (protocol llm_judge)"
    assert cases.outcomes(keys) == {
        **ALL_RIGHT,
        "reconcile_average": (2, 1, 0, ()),
        "reconcile_minmax": (6, 0, 3, (OTHER_PROTOCOL,)),
        "reconcile_summary": (3, 0, 2, (OTHER_PROTOCOL,)),
    }


def test_the_split_decides_the_constants(cases: Cases) -> None:
    assert cases.of(OTHER_SPLIT) == []
    assert cases.outcomes(OTHER_SPLIT)["reconcile_summary"] == (3, 0, 0, ())


def test_what_cannot_be_checked_is_said_once_for_each_check_and_reason(cases: Cases) -> None:
    found = [f for f in cases.findings if f.severity == "info" and f.check.startswith("reconcile_")]
    assert {f.group_id for f in found} == {None}
    start = "reconcile_summary cannot be checked for"
    assert {f.message for f in found if f.check == "reconcile_summary"} == {
        f"{start} 6 published numbers in 2 groups: {NO_DETAILS}",
        f"{start} 3 published numbers in 1 groups: {NO_CONSTANTS}",
        f"{start} 3 published numbers in 1 groups: a score is not finite",
        f"{start} 2 published numbers in 1 groups: {OTHER_PROTOCOL}",
    }


def _in_triple(part: str, place: int) -> Change:
    def change(summary: dict[str, Any]) -> tuple[float, float]:
        triple = summary[part]["NFCats"]
        right = triple[place]
        triple[place] = right + 1
        return right + 1, right

    return change


def _in_object(part: str, name: str) -> Change:
    def change(summary: dict[str, Any]) -> tuple[float, float]:
        right = summary[part][name]
        summary[part][name] = right + 1e-6
        return right + 1e-6, right

    return change


CHANGES: list[tuple[str, str, str | None, Change]] = [
    ("reconcile_average", "average of NFCats", "NFCats", _in_object("average", "NFCats")),
    ("reconcile_average", "average of Locomo", "Locomo", _in_object("average", "Locomo")),
    *(
        (f"reconcile_{short}", f"{part}, {name} of NFCats", "NFCats", _in_triple(part, place))
        for short, part in (("minmax", "minmax_normalized_average"), ("z", "z_normalized_average"))
        for place, name in enumerate(("sum", "count", "mean"))
    ),
    *(
        ("reconcile_summary", f"summary.{name}", None, _in_object("summary", name))
        for name in ("average", "weighted_average", "z_score")
    ),
]


def test_one_changed_number_is_found_and_no_other(tmp_path: Path) -> None:
    """Each change in a group of its own."""
    archive = HandmadeArchive(tmp_path / "archive")
    expected = {}
    for number, (check, place, dataset, change) in enumerate(CHANGES):
        keys = system(f"system {number:02}")
        files = reconciled_files(keys)
        published, right = change(files["summary.json"])
        archive.add(keys, files)
        expected[group_id(keys)] = (check, place, dataset, f"{folder(keys)}/summary.json", published, right)
    found = build(archive.root, tmp_path / "warehouse").findings
    assert sorted(f.group_id or "" for f in found) == sorted(expected)
    for finding in found:
        check, place, dataset, file, published, right = expected[finding.group_id or ""]
        assert (finding.check, finding.severity) == (check, "error")
        assert (finding.file, finding.dataset) == (file, dataset)
        start = f"{place} is published as {float(published)}; the published scores give "
        assert finding.message.startswith(start), finding.message
        assert finding.message.endswith(" (protocol metrics)")
        assert float(finding.message.removeprefix(start).split(" ")[0]) == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("archive", ["generated_archive", pytest.param("traps_archive", marks=pytest.mark.full)])
def test_in_a_generated_archive_nothing_differs(archive: str, request: pytest.FixtureRequest) -> None:
    groups = outcomes_of(warehouse_of(request.getfixturevalue(archive)))
    assert len(groups) == 244
    for outcomes in groups.values():
        assert all(failed == 0 for _, failed, _, _ in outcomes.values())
        unchecked = {check for check, (_, _, count, _) in outcomes.items() if count}
        assert unchecked <= {"reconcile_scores"}, "a metric may be missing in the archive with traps"
        assert outcomes["reconcile_summary"] == (3, 0, 0, ())


def test_without_details_the_real_archive_cannot_be_checked(real_archive: Path) -> None:
    groups = outcomes_of(warehouse_of(real_archive))
    assert len(groups) == 249, "one group has no summary"
    assert {str(outcomes) for outcomes in groups.values()} == {str({"reconcile_summary": (0, 0, 2, (NO_DETAILS,))})}


@pytest.mark.parametrize("audit", list_audits(), ids=lambda audit: audit.name)
def test_an_audit_says_what_it_returns(audit: Any) -> None:
    assert audit.file.file == f"sql/audits/{audit.name}.sql"
    used = {name for _, name, _, _ in Formatter().parse(audit.message) if name}
    assert used <= set(audit.file.output_columns)
