"""Input contracts: what is declared is what is enforced, key by key."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pipelines.archive.groups import GROUP_FILES
from pipelines.archive.manifest import read_manifest
from pipelines.findings import Finding
from pipelines.normalize import evaluate_details, predict, summary
from schemas.contracts import CONTRACTS, EVALUATE_DETAILS, MANIFEST, POLICIES, PREDICT, SUMMARY, Contract
from tests.handmade import HandmadeArchive, Keys, build, folder, group_files, group_id

RECORDS = {contract.file: contract for contract in (PREDICT, EVALUATE_DETAILS, SUMMARY)}
REQUIRED = [(contract.file, key) for contract in RECORDS.values() for key in contract.required_keys]
TYPED = [(file, key) for file, key in REQUIRED if RECORDS[file][key].types != ("any",)]
LINE: dict[str, Any] = {
    "exp": "off-policy",
    "model": "Qwen3-8B",
    "dataset_type": "domain",
    "set_name": "Legal",
    "baseline": "a_mem",
    "run_id": "published",
    "relative_dir": "x",
    "files": [],
}


UNIQUE = (PREDICT, EVALUATE_DETAILS)


def first_record(files: dict[str, Any], file: str) -> dict[str, Any]:
    content = files[file]
    record: dict[str, Any] = content[0] if isinstance(content, list) else content
    return record


def _drop(file: str, key: str, files: dict[str, Any]) -> None:
    del first_record(files, file)[key]


def _retype(file: str, key: str, files: dict[str, Any]) -> None:
    first_record(files, file)[key] = [1]


def _add(file: str, files: dict[str, Any]) -> None:
    first_record(files, file)["a key of a later release"] = {"and": ["its", "value", None]}


def _repeat(file: str, files: dict[str, Any]) -> None:
    files[file].append(files[file][0])


def _new_metric(files: dict[str, Any]) -> None:
    files["evaluate_details.json"][0]["metrics"] |= {"novelty": 0.5, "judges": ["a", "b"]}


#: Every way in which one group of the archive below departs from the contract.
CASES: dict[str, Callable[[dict[str, Any]], None]] = {
    **{f"{file} without {key}": partial(_drop, file, key) for file, key in REQUIRED},
    **{f"{file} with {key} of another type": partial(_retype, file, key) for file, key in TYPED},
    **{f"{file} with a new key": partial(_add, file) for file in sorted(GROUP_FILES)},
    **{f"{contract.file} with a record twice": partial(_repeat, contract.file) for contract in UNIQUE},
    "a new metric": _new_metric,
    "nothing changed": lambda files: None,
}


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Finding]]:
    """The findings on each case's group, from one build of all of them."""
    folder = tmp_path_factory.mktemp("contracts")
    archive = HandmadeArchive(folder / "archive")
    for case, change in CASES.items():
        files = group_files()
        change(files)
        archive.add(_keys(case), files)
    report = build(archive.root, folder / "warehouse")
    by_group = {group_id(_keys(case)): case for case in CASES}
    found: dict[str, list[Finding]] = {case: [] for case in CASES}
    for finding in report.findings:
        if finding.check == "input_contract":
            found[by_group[finding.group_id or ""]].append(finding)
    return found


def _keys(case: str) -> Keys:
    return ("off-policy", "Qwen3-8B", "domain", "Open-Domain", case)


@pytest.mark.parametrize("file, key", REQUIRED)
def test_a_missing_required_key_stops_that_group_alone(findings: dict[str, list[Finding]], file: str, key: str) -> None:
    case = f"{file} without {key}"
    (finding,) = findings[case]
    assert (finding.severity, finding.file) == ("error", f"{folder(_keys(case))}/{file}")
    assert finding.message == f"group quarantined: required key {key!r} is missing"


@pytest.mark.parametrize("file, key", TYPED)
def test_a_required_key_of_another_type_stops_that_group_alone(
    findings: dict[str, list[Finding]], file: str, key: str
) -> None:
    (finding,) = findings[f"{file} with {key} of another type"]
    assert finding.message.startswith(f"group quarantined: {key} is a list, expected ")


@pytest.mark.parametrize("contract", UNIQUE, ids=lambda contract: contract.name)
def test_a_record_that_stands_twice_stops_that_group_alone(
    findings: dict[str, list[Finding]], contract: Contract
) -> None:
    assert contract.unique == ("dataset", "test_idx")
    (finding,) = findings[f"{contract.file} with a record twice"]
    assert finding.message == "group quarantined: duplicate sample: dataset 'NFCats', test_idx 3 stands twice"
    assert finding.record == 3


@pytest.mark.parametrize("case", [case for case in CASES if "new" in case or case == "nothing changed"])
def test_what_is_new_is_data(findings: dict[str, list[Finding]], case: str) -> None:
    assert findings[case] == []


@pytest.mark.parametrize("key", MANIFEST.required_keys)
def test_a_line_without_a_required_key_is_refused(key: str) -> None:
    line = {name: value for name, value in LINE.items() if name != key}
    entries, (finding,) = read_manifest(json.dumps(line).encode())
    assert entries == []
    reason = "files is not a list of names" if key == "files" else f"required key {key!r} is missing"
    assert (finding.check, finding.message) == ("manifest_line", f"line refused: {reason}")


@pytest.mark.parametrize("key", [key.name for key in MANIFEST.keys if not key.required])
def test_other_keys_of_a_line_have_a_stand_in(key: str) -> None:
    line = {name: value for name, value in LINE.items() if name != key}
    if key in ("exp", "model"):
        line["setting"] = "off-policy-Qwen3-8B"
    (entry,), findings = read_manifest(json.dumps(line).encode())
    assert (entry.key.experiment, entry.key.backbone, findings) == ("off-policy", "Qwen3-8B", [])


def test_every_file_has_a_contract() -> None:
    assert {contract.file for contract in CONTRACTS.values()} == {"manifest.jsonl", *GROUP_FILES}
    assert all(drift.policy in POLICIES for contract in CONTRACTS.values() for drift in contract.drift)
    for contract in CONTRACTS.values():
        assert len(set(contract.canonical_keys)) == len(contract.keys)
        assert {drift.policy for drift in contract.drift} >= {"evolve"}, "what is new is data somewhere"


def test_the_normalisers_take_their_keys_from_the_contracts() -> None:
    assert PREDICT.canonical_keys == predict.CANONICAL_KEYS
    assert EVALUATE_DETAILS.canonical_keys == evaluate_details.CANONICAL_KEYS
    assert SUMMARY.canonical_keys == summary.CANONICAL_KEYS
