"""The manifest: what a line may look like, and that a bad line stops itself alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipelines.archive.groups import GroupKey
from pipelines.archive.manifest import entries_from_folders, read_manifest

LINE: dict[str, Any] = {
    "exp": "off-policy",
    "model": "Qwen3-8B",
    "dataset_type": "domain",
    "set_name": "Academic&Knowledge",
    "baseline": "a_mem",
    "run_id": "start_at_2026-06-23-12-00-00",
    "relative_dir": "off-policy-Qwen3-8B/domain/Academic&Knowledge/a_mem",
    "files": ["predict.json"],
}


def manifest(*lines: dict[str, Any] | str) -> bytes:
    return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()


def without(*names: str, **changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**LINE, **changes}.items() if name not in names}


def test_a_line_names_a_group_its_place_and_its_files() -> None:
    entries, findings = read_manifest(manifest(LINE))
    assert findings == []
    (entry,) = entries
    assert entry.key == GroupKey("off-policy", "Qwen3-8B", "domain", "Academic&Knowledge", "a_mem")
    assert entry.files == ("predict.json",)


def test_an_older_line_has_setting_in_place_of_exp_and_model() -> None:
    line = without("exp", "model", setting="off-policy-Mistral-Small-3.2-24B-Instruct-2506")
    entries, _ = read_manifest(manifest(line))
    assert entries[0].key[:2] == ("off-policy", "Mistral-Small-3.2-24B-Instruct-2506")


def test_the_longest_known_experiment_is_split_off() -> None:
    entries, _ = read_manifest(manifest(without("exp", "model", setting="stepwise off-policy-Qwen3-8B")))
    assert entries[0].key[:2] == ("stepwise off-policy", "Qwen3-8B")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("{nonsense", "line refused: not JSON: Expecting property name", id="not JSON"),
        pytest.param("[1]", "line refused: expected an object, found a list", id="not an object"),
        pytest.param(without("baseline"), "line refused: required key 'baseline' is missing", id="a missing key"),
        pytest.param(without("exp"), "line refused: neither exp and model nor setting is there", id="no experiment"),
        pytest.param(without(baseline=7), "line refused: baseline is an integer, expected a string", id="a number"),
        pytest.param(without(baseline=""), "line refused: baseline is empty", id="an empty key"),
        pytest.param(
            without(baseline="a\nb"),
            r"line refused: baseline holds a control character: 'a\\nb'",
            id="a control character",
        ),
        *(
            pytest.param(
                without(**{name: "__HIVE_DEFAULT_PARTITION__"}),
                f"line refused: {key} is __HIVE_DEFAULT_PARTITION__, which as a directory name stands for NULL",
                id=f"NULL as {key}",
            )
            for name, key in zip(
                ("exp", "model", "dataset_type", "set_name", "baseline"), GroupKey._fields, strict=True
            )
        ),
        pytest.param(
            without(model="m" * 250), "line refused: backbone needs a directory name of 259 bytes", id="too long"
        ),
        pytest.param(without(files="predict.json"), "line refused: files is not a list of names", id="files is a text"),
        pytest.param(
            without(files=["../secret.json"]),
            "line refused: files names a path that leaves the group",
            id="files leaves",
        ),
        pytest.param(
            without(relative_dir="../elsewhere"),
            "line refused: relative_dir leaves the archive",
            id="relative_dir leaves",
        ),
        pytest.param(
            without(relative_dir="/etc"), "line refused: relative_dir leaves the archive", id="an absolute path"
        ),
        pytest.param(without(relative_dir="a\\b"), "line refused: relative_dir holds a backslash", id="a backslash"),
        pytest.param(
            without("exp", "model", setting="unheard-of-Qwen3-8B"),
            "line refused: no known experiment at the front of 'unheard-of-Qwen3-8B'",
            id="an unknown experiment",
        ),
    ],
)
def test_a_bad_line_is_refused_and_the_others_are_kept(line: dict[str, Any] | str, message: str) -> None:
    good = without(baseline="mem0")
    entries, findings = read_manifest(manifest(line, good))
    assert [entry.key.baseline for entry in entries] == ["mem0"]
    (finding,) = findings
    assert (finding.check, finding.severity, finding.file, finding.record) == (
        "manifest_line",
        "error",
        "manifest.jsonl",
        0,
    )
    import re

    assert re.match(message, finding.message), finding.message


def test_of_two_runs_the_newest_is_taken_and_the_other_is_a_finding() -> None:
    older = without(run_id="start_at_2026-01-01-00-00-00", relative_dir="old")
    entries, findings = read_manifest(manifest(LINE, older))
    assert [entry.run_id for entry in entries] == ["start_at_2026-06-23-12-00-00"]
    assert findings[0].message == f"two runs of one group: {LINE['relative_dir']} is taken, old is not"


def test_an_archive_without_a_manifest_is_read_off_its_folders() -> None:
    folders = ["off-policy-Qwen3-8B/domain/Legal/a_mem", "on-policy-X/task/Long-Long/mem0/start_at_1", "stray"]
    entries, findings = entries_from_folders(folders)
    assert [(e.key.group_id, e.run_id) for e in entries] == [
        ("off-policy/Qwen3-8B/domain/Legal/a_mem", None),
        ("on-policy/X/task/Long-Long/mem0", "start_at_1"),
    ]
    assert [(f.check, f.file) for f in findings] == [("refused_path", "stray")]


@pytest.mark.parametrize("backbone", ["a=b/c", "../../etc", "x'; DROP TABLE results; --", "<script>", "🤖", "50%"])
def test_any_key_makes_a_path_of_one_directory_and_an_id_of_its_own(backbone: str) -> None:
    key = GroupKey("off-policy", backbone, "domain", "Legal", "a_mem")
    assert key.refusal() is None
    parts = key.partition_path.split("/")
    assert len(parts) == 5
    assert all(part.isascii() and ".." not in part.split("=") for part in parts)
    assert key.group_id.count("/") == 4


def test_a_folder_whose_name_stands_for_null_is_refused() -> None:
    entries, findings = entries_from_folders(["off-policy-Qwen3-8B/domain/Legal/__HIVE_DEFAULT_PARTITION__"])
    assert entries == []
    (finding,) = findings
    assert finding.message.startswith("folder refused: baseline is __HIVE_DEFAULT_PARTITION__")
