"""Bad input: each row of the table in docs/input.md, with its exact finding. The rest of the archive still loads."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.archive.groups import ArchiveGroup
from pipelines.archive.local import LocalSource
from pipelines.archive.source import FetchedGroup
from pipelines.cli import main
from pipelines.errors import SourceError
from pipelines.findings import Finding
from pipelines.refresh import RefreshReport
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
    prediction,
)

pytestmark = pytest.mark.usefixtures("unchecked")

SUMMARY = f"{folder(A_MEM)}/summary.json"
TRUNCATED = json.dumps(group_files()["predict.json"], indent=4).encode()[:-40]


def statuses(warehouse: Path) -> dict[str, str]:
    with duckdb.connect(str(warehouse / "memorybench.duckdb"), read_only=True) as connection:
        return dict(connection.execute("SELECT baseline, status FROM result_groups").fetchall())


def count(warehouse: Path, table: str, baseline: str) -> int:
    with duckdb.connect(str(warehouse / "memorybench.duckdb"), read_only=True) as connection:
        rows = connection.execute(f"SELECT count(*) FROM {table} WHERE baseline = ?", [baseline]).fetchone()
    assert rows is not None
    return int(rows[0])


def input_findings(findings: list[Finding]) -> list[Finding]:
    return [f for f in findings if f.check in ("input_contract", "missing_file", "score_count", "sample_mismatch")]


CASES: list[Any] = [
    pytest.param(
        {"predict": b"this is not JSON"},
        "predict.json",
        None,
        "not JSON: Expecting value: line 1 column 1 (char 0)",
        id="not JSON",
    ),
    pytest.param(
        {"predict": TRUNCATED}, "predict.json", None, "not JSON: Unterminated string starting at", id="truncated"
    ),
    pytest.param(
        {"predict": {"a": 1}},
        "predict.json",
        None,
        "expected a list at the top, found an object",
        id="an object for a list",
    ),
    pytest.param(
        {"summary": [1]}, "summary.json", None, "expected an object at the top, found a list", id="a list for an object"
    ),
    pytest.param(
        {"summary": {"average": {}}}, "summary.json", None, "required key 'summary' is missing", id="no summary"
    ),
    pytest.param(
        {"summary": {"summary": None}},
        "summary.json",
        None,
        "summary is null, expected an object",
        id="summary is null",
    ),
    pytest.param(
        {"predict": [prediction("NFCats", 3), {"test_idx": 1, "messages": [], "dataset": "NFCats"}]},
        "predict.json",
        1,
        "required key 'response' is missing",
        id="a prediction without response",
    ),
    pytest.param(
        {"predict": [prediction("NFCats", 3), {**prediction("NFCats", 4), "test_idx": "4"}]},
        "predict.json",
        1,
        "test_idx is a string, expected an integer",
        id="a test_idx that is a text",
    ),
    pytest.param(
        {"predict": [prediction("NFCats", 3), {**prediction("NFCats", 4), "test_idx": True}]},
        "predict.json",
        1,
        "test_idx is a boolean, expected an integer",
        id="a test_idx that is a boolean",
    ),
    pytest.param(
        {"predict": [{**prediction("NFCats", 3), "response": 5}]},
        "predict.json",
        0,
        "response is an integer, expected a string",
        id="a response that is a number",
    ),
    pytest.param(
        {"predict": [prediction("NFCats", 3), prediction("Locomo-0", 3), prediction("NFCats", 3)]},
        "predict.json",
        2,
        "duplicate sample: dataset 'NFCats', test_idx 3 stands twice",
        id="a sample predicted twice",
    ),
    pytest.param(
        {"evaluate_details": [evaluation("NFCats", 3, {"score": 4}), evaluation("NFCats", 3, {"score": 5})]},
        "evaluate_details.json",
        1,
        "duplicate sample: dataset 'NFCats', test_idx 3 stands twice",
        id="a sample evaluated twice",
    ),
    pytest.param(
        {"evaluate_details": [{"test_idx": 3, "dataset": "NFCats", "metrics": [4]}]},
        "evaluate_details.json",
        0,
        "metrics is a list, expected an object",
        id="metrics is a list",
    ),
    pytest.param(
        {"evaluate_details": [evaluation("", 3, {})]},
        "evaluate_details.json",
        0,
        "dataset is empty, expected a name",
        id="no dataset",
    ),
    pytest.param({"run_config": b"[]"}, "run_config.json", None, "expected an object", id="a config list"),
]


@dataclass(frozen=True)
class Built:
    warehouse: Path
    report: RefreshReport


def bad_group(case: int) -> Keys:
    """The group that holds the files of one case."""
    return (*A_MEM[:4], f"case_{case}")


@pytest.fixture(scope="module")
def bad_groups(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A warehouse of one good group and, for each case, a bad one."""
    folder = tmp_path_factory.mktemp("bad_groups")
    archive = HandmadeArchive(folder / "archive")
    for number, case in enumerate(CASES):
        archive.add(bad_group(number), group_files(**case.values[0]))
    archive.add(WO_MEMORY)
    return Built(folder / "warehouse", build(archive.root, folder / "warehouse"))


@pytest.mark.parametrize(
    ("number", "file", "record", "reason"),
    [pytest.param(number, *case.values[1:], id=case.id) for number, case in enumerate(CASES)],
)
def test_a_bad_group_is_quarantined_alone(
    bad_groups: Built, number: int, file: str, record: int | None, reason: str
) -> None:
    keys = bad_group(number)
    findings = input_findings(bad_groups.report.findings)
    (finding,) = [finding for finding in findings if finding.group_id == group_id(keys)]
    assert (finding.check, finding.severity) == ("input_contract", "error")
    assert (finding.file, finding.record) == (f"{folder(keys)}/{file}", record)
    assert finding.message.startswith(f"group quarantined: {reason}"), finding.message
    assert bad_groups.report.needs_attention
    assert statuses(bad_groups.warehouse)[keys[-1]] == "quarantined"
    tables = ("predictions", "evaluations", "sample_metrics", "sample_scores", "summary_metrics", "run_configs")
    assert [count(bad_groups.warehouse, table, keys[-1]) for table in tables] == [0] * 6


def test_a_good_group_among_bad_ones_loads(bad_groups: Built) -> None:
    assert statuses(bad_groups.warehouse)["wo_memory"] == "complete"
    assert count(bad_groups.warehouse, "predictions", "wo_memory") == 3


def test_the_last_good_version_of_a_group_stays_and_is_marked_stale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    directory = archive.add(A_MEM)
    archive.add(WO_MEMORY)
    build(archive.root, tmp_path / "warehouse")
    archive.write(directory / "predict.json", TRUNCATED)
    report = build(archive.root, tmp_path / "warehouse")
    assert statuses(tmp_path / "warehouse") == {"a_mem": "stale", "wo_memory": "complete"}
    assert count(tmp_path / "warehouse", "predictions", "a_mem") == 3
    [finding] = input_findings(report.findings)
    assert finding.file == f"{folder(A_MEM)}/predict.json"
    assert finding.message.startswith("group stale, its last good version stays: not JSON")
    for table in ("weighted_average", "collection_rankings"):
        assert main(["table", table, "--format", "markdown", "--warehouse", str(tmp_path / "warehouse")]) == 0
        out = capsys.readouterr().out
        assert re.search(r"0\.\d+(\*\*)?\\~", out), out
        assert "the group is stale: its newest files are bad" in out
    again = build(archive.root, tmp_path / "warehouse")
    assert again.published is None
    assert again.needs_attention, "a fault that lasts is reported at each refresh"
    archive.write(directory / "predict.json", group_files()["predict.json"])
    mended = build(archive.root, tmp_path / "warehouse")
    assert statuses(tmp_path / "warehouse")["a_mem"] == "complete"
    assert input_findings(mended.findings) == []


def test_a_file_that_the_manifest_names_and_that_is_not_there_makes_the_group_partial(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM, group_files(summary=None), files=["evaluate_details.json", "predict.json", "summary.json"])
    report = build(archive.root, tmp_path / "warehouse")
    (finding,) = input_findings(report.findings)
    assert (finding.check, finding.severity, finding.file) == ("missing_file", "warning", SUMMARY)
    assert finding.message == "the manifest names this file, and it is not there"
    assert statuses(tmp_path / "warehouse") == {"a_mem": "partial"}
    assert count(tmp_path / "warehouse", "predictions", "a_mem") == 3


def test_a_manifest_that_names_fewer_files_is_no_fault(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM, group_files(summary=None, predict=None))
    report = build(archive.root, tmp_path / "warehouse")
    assert input_findings(report.findings) == []
    assert statuses(tmp_path / "warehouse") == {"a_mem": "complete"}


def test_details_and_evaluations_that_disagree_in_number_load_without_a_sample(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    summary = {"summary": {}, "details": {"Locomo": [0.5], "NFCats": [4]}}
    archive.add(A_MEM, group_files(summary=summary))
    report = build(archive.root, tmp_path / "warehouse")
    (finding,) = input_findings(report.findings)
    assert finding.check == "score_count"
    assert finding.message == (
        "summary.details has 1 scores for Locomo, the evaluations have 2 samples (protocol metrics): "
        "scores load without test_idx"
    )
    with duckdb.connect(str(tmp_path / "warehouse" / "memorybench.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            "SELECT dataset_group, dataset, test_idx, score FROM sample_scores ORDER BY dataset_group"
        ).fetchall()
    assert rows == [("Locomo", None, None, 0.5), ("NFCats", "NFCats", 3, 4.0)]


def test_predictions_and_evaluations_of_different_samples_both_load(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM, group_files(predict=[prediction("NFCats", 3), prediction("NFCats", 9)], summary=None))
    report = build(archive.root, tmp_path / "warehouse")
    (finding,) = input_findings(report.findings)
    assert finding.message == (
        "predictions and evaluations (protocol metrics) hold different samples: 2 predicted, 3 evaluated, 1 in both"
    )
    assert count(tmp_path / "warehouse", "predictions", "a_mem") == 2
    assert count(tmp_path / "warehouse", "evaluations", "a_mem") == 3


@pytest.mark.parametrize(
    "break_out",
    [
        pytest.param(lambda archive, out: archive.lines.append(line(relative_dir="../outside")), id="by dots"),
        pytest.param(lambda archive, out: archive.lines.append(line(relative_dir=str(out))), id="by an absolute path"),
        pytest.param(
            lambda archive, out: (
                os.symlink(out, archive.root / "link"),
                archive.lines.append(line(relative_dir="link")),
            ),
            id="by a link",
        ),
    ],
)
def test_a_path_that_leaves_the_archive_is_refused(
    tmp_path: Path, break_out: Callable[[HandmadeArchive, Path], None]
) -> None:
    outside = HandmadeArchive(tmp_path / "outside")
    for name, content in group_files().items():
        outside.write(outside.root / name, content)
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM)
    break_out(archive, outside.root)
    archive.write_manifest()
    report = build(archive.root, tmp_path / "warehouse")
    (finding,) = [f for f in report.findings if f.check == "manifest_line"]
    assert (finding.severity, report.needs_attention) == ("error", True)
    assert finding.message.startswith("line refused: relative_dir")
    assert statuses(tmp_path / "warehouse") == {"a_mem": "complete"}


def line(relative_dir: str) -> dict[str, Any]:
    names = ("exp", "model", "dataset_type", "set_name", "baseline")
    files = sorted(group_files())
    return {**dict(zip(names, MEM0, strict=True)), "run_id": "x", "relative_dir": relative_dir, "files": files}


def test_a_file_that_is_a_link_out_of_the_archive_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("[]")
    archive = HandmadeArchive(tmp_path / "archive")
    directory = archive.add(A_MEM)
    (directory / "predict.json").unlink()
    (directory / "predict.json").symlink_to(secret)
    report = build(archive.root, tmp_path / "warehouse")
    checks = {f.check: f.message for f in report.findings}
    assert checks["refused_path"] == "file refused: it is a link out of the archive"
    assert statuses(tmp_path / "warehouse") == {"a_mem": "partial"}


@pytest.mark.parametrize("name", ["summary.json", "notes.json"])
def test_links_in_a_circle_stop_their_group_alone(tmp_path: Path, name: str) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    directory = archive.add(A_MEM)
    archive.add(WO_MEMORY)
    (directory / name).unlink(missing_ok=True)
    (directory / name).symlink_to(name)
    report = build(archive.root, tmp_path / "warehouse")
    (finding,) = input_findings(report.findings)
    assert (finding.group_id, finding.file) == (group_id(A_MEM), f"{folder(A_MEM)}/{name}")
    assert finding.message == f"group quarantined: cannot be read: {os.strerror(errno.ELOOP)}"
    assert statuses(tmp_path / "warehouse") == {"a_mem": "quarantined", "wo_memory": "complete"}


def test_a_folder_that_is_a_link_in_a_circle_stops_its_group_alone(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM)
    (archive.root / "here").symlink_to("there")
    (archive.root / "there").symlink_to("here")
    archive.lines.append(line(relative_dir="here"))
    archive.write_manifest()
    report = build(archive.root, tmp_path / "warehouse")
    (finding,) = input_findings(report.findings)
    assert (finding.group_id, finding.severity) == (group_id(MEM0), "error")
    assert statuses(tmp_path / "warehouse") == {"a_mem": "complete", "mem0": "quarantined"}


@pytest.mark.parametrize("target", ["manifest.jsonl", "nowhere"])
def test_a_manifest_that_is_a_link_to_nothing_is_not_taken_for_none(tmp_path: Path, target: str) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM)
    (archive.root / "manifest.jsonl").unlink()
    (archive.root / "manifest.jsonl").symlink_to(target)
    with pytest.raises(SourceError, match=r"manifest\.jsonl cannot be read"):
        build(archive.root, tmp_path / "warehouse")


@pytest.mark.parametrize("moment", ["before the folder is looked at", "before it is read"])
def test_a_file_beside_the_four_may_vanish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    directory = archive.add(A_MEM)
    vanishing = directory / "summary.json.tmp"
    vanishing.write_text("half of a")
    if moment == "before it is read":
        fetch = LocalSource.fetch

        def fetch_late(self: LocalSource, groups: Sequence[ArchiveGroup]) -> Iterator[FetchedGroup]:
            vanishing.unlink()
            return fetch(self, groups)

        monkeypatch.setattr(LocalSource, "fetch", fetch_late)
    else:
        listdir = os.listdir

        def list_early(path: Path) -> list[str]:
            names = listdir(path)
            vanishing.unlink(missing_ok=True)
            return names

        monkeypatch.setattr("pipelines.archive.local.os.listdir", list_early)
    report = build(archive.root, tmp_path / "warehouse")
    monkeypatch.undo()
    found = [(f.check, f.severity, f.file, f.message) for f in report.findings if f.file]
    listed = ("unknown_file", "info", f"{folder(A_MEM)}/summary.json.tmp")
    assert found == (
        [(*listed, "listed, not loaded: it was deleted before it could be read")]
        if moment == "before it is read"
        else []
    )
    assert not report.needs_attention
    assert statuses(tmp_path / "warehouse") == {"a_mem": "complete"}
    with duckdb.connect(str(tmp_path / "warehouse" / "memorybench.duckdb"), read_only=True) as connection:
        (files,) = connection.execute("SELECT files FROM result_groups").fetchall()
    assert [file["name"] for file in json.loads(files[0])] == sorted(group_files())
    assert build(archive.root, tmp_path / "warehouse").published is None


def test_one_of_the_four_that_vanishes_before_it_is_read_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    directory = archive.add(A_MEM)
    fetch = LocalSource.fetch

    def fetch_late(self: LocalSource, groups: Sequence[ArchiveGroup]) -> Iterator[FetchedGroup]:
        (directory / "summary.json").unlink()
        return fetch(self, groups)

    monkeypatch.setattr(LocalSource, "fetch", fetch_late)
    (finding,) = input_findings(build(archive.root, tmp_path / "warehouse").findings)
    assert (finding.check, finding.file) == ("input_contract", SUMMARY)
    assert statuses(tmp_path / "warehouse") == {"a_mem": "quarantined"}


def test_an_archive_without_any_group_is_an_error_and_publishes_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="holds no result group"):
        build(tmp_path / "empty", tmp_path / "warehouse")
    assert not (tmp_path / "warehouse" / "memorybench.duckdb").exists()


def test_a_file_of_another_name_is_listed_and_not_loaded(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM, {**group_files(), "notes.json": {"a": 1}})
    report = build(archive.root, tmp_path / "warehouse")
    (finding,) = [f for f in report.findings if f.check == "unknown_file"]
    assert (finding.severity, finding.file) == ("info", f"{folder(A_MEM)}/notes.json")
    assert finding.message == "listed, not loaded: neither evaluation details nor a summary"
    assert not report.needs_attention
