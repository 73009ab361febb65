"""manifest.jsonl: one line for each result group; and the same read off the folders where there is no manifest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pipelines.archive.groups import ArchiveFile, ArchiveGroup, GroupKey, path_refusal
from pipelines.archive.json_reader import json_type, loads
from pipelines.errors import BadRecord
from pipelines.findings import Finding
from schemas.contracts import MANIFEST as CONTRACT
from schemas.reference.runner import KNOWN_EXPERIMENTS

MANIFEST = CONTRACT.file
#: How many folders deep a group lies: <experiment>-<backbone>/<split>/<collection>/<baseline>.
GROUP_DEPTH = 4
#: The required keys that hold one text each, in the order in which a line is read.
_TEXT_KEYS = tuple(key for key in CONTRACT.required_keys if CONTRACT[key].types == ("string",))


@dataclass(frozen=True)
class ManifestEntry:
    """A line of the manifest. `files` is None where the folders were walked: then what is there is all there is."""

    key: GroupKey
    run_id: str | None
    relative_dir: str
    files: tuple[str, ...] | None


def split_setting(setting: str) -> tuple[str, str]:
    """Split "off-policy-Qwen3-8B" into experiment and backbone. Both hold hyphens, so only a known experiment can be
    split off.

    Raises:
        BadRecord: no known experiment stands at the front.
    """
    for experiment in sorted(KNOWN_EXPERIMENTS, key=len, reverse=True):
        backbone = setting.removeprefix(f"{experiment}-")
        if backbone != setting and backbone:
            return experiment, backbone
    raise BadRecord(f"no known experiment at the front of {setting!r} (known: {', '.join(KNOWN_EXPERIMENTS)})")


def read_manifest(data: bytes) -> tuple[list[ManifestEntry], list[Finding]]:
    """Read every line; a line that breaks the contract is refused with a finding and the others are kept.

    Where a group is named more than once, its newest run is kept (by run_id, then relative_dir).
    """
    entries: list[ManifestEntry] = []
    findings: list[Finding] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines()):
        if not line.strip():
            continue
        try:
            entries.append(_read_line(line))
        except BadRecord as error:
            findings.append(
                Finding("manifest_line", "error", f"line refused: {error.reason}", file=MANIFEST, record=number)
            )
    kept, repeated = keep_newest_run(entries)
    return kept, findings + repeated


def _read_line(line: bytes) -> ManifestEntry:
    item = loads(line)
    if not isinstance(item, dict):
        raise BadRecord(f"expected an object, found {json_type(item)}")
    if "exp" in item and "model" in item:
        experiment, backbone = _text(item, "exp"), _text(item, "model")
    elif "setting" in item:
        experiment, backbone = split_setting(_text(item, "setting"))
    else:
        raise BadRecord("neither exp and model nor setting is there")
    split, collection, baseline, relative_dir = (_text(item, key) for key in _TEXT_KEYS)
    files = item.get("files")
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        raise BadRecord("files is not a list of names")
    bad_name = next((name for name in files if path_refusal(name) or "/" in name), None)
    if bad_name is not None:
        raise BadRecord(f"files names a path that leaves the group: {bad_name!r}")
    run_id = item.get("run_id")
    if run_id is not None and not isinstance(run_id, str):
        raise BadRecord(f"run_id is {json_type(run_id)}, expected a string")
    key = GroupKey(experiment, backbone, split, collection, baseline)
    refusal = key.refusal() or path_refusal(relative_dir)
    if refusal:
        raise BadRecord(refusal)
    return ManifestEntry(key, run_id, relative_dir, tuple(files))


def _text(item: dict[str, Any], key: str) -> str:
    if key not in item:
        raise BadRecord(f"required key {key!r} is missing")
    value = item[key]
    if not isinstance(value, str):
        raise BadRecord(f"{key} is {json_type(value)}, expected a string")
    return value


def entries_from_folders(group_dirs: Iterable[str]) -> tuple[list[ManifestEntry], list[Finding]]:
    """Entries for an archive without a manifest, from the folders that hold any of the four files.

    A folder is <experiment>-<backbone>/<split>/<collection>/<baseline>, or one level deeper for a run.
    """
    entries: list[ManifestEntry] = []
    findings: list[Finding] = []
    for directory in sorted(group_dirs):
        parts = PurePosixPath(directory).parts
        try:
            if len(parts) not in (GROUP_DEPTH, GROUP_DEPTH + 1):
                raise BadRecord("expected <experiment>-<backbone>/<split>/<collection>/<baseline>[/<run>]")
            key = GroupKey(*split_setting(parts[0]), *parts[1:4])
            refusal = key.refusal()
            if refusal:
                raise BadRecord(refusal)
        except BadRecord as error:
            findings.append(Finding("refused_path", "error", f"folder refused: {error.reason}", file=directory))
            continue
        entries.append(ManifestEntry(key, parts[GROUP_DEPTH] if len(parts) > GROUP_DEPTH else None, directory, None))
    kept, repeated = keep_newest_run(entries)
    return kept, findings + repeated


def keep_newest_run(entries: Iterable[ManifestEntry]) -> tuple[list[ManifestEntry], list[Finding]]:
    """One entry for each group, the newest run; each other run is a finding. Run names hold their start time, so the
    last in order is the newest; ordered by key."""
    newest: dict[GroupKey, ManifestEntry] = {}
    findings = []
    for entry in sorted(entries, key=lambda e: (e.key, e.run_id or "", e.relative_dir)):
        older = newest.get(entry.key)
        if older is not None:
            message = f"two runs of one group: {entry.relative_dir} is taken, {older.relative_dir} is not"
            findings.append(Finding("repeated_group", "warning", message, group_id=entry.key.group_id, file=MANIFEST))
        newest[entry.key] = entry
    return list(newest.values()), findings


def group_of(entry: ManifestEntry, files: Iterable[ArchiveFile]) -> tuple[ArchiveGroup, list[Finding]]:
    """The group of an entry from the files that its folder holds; each file that the manifest names and that is not
    there is a finding."""
    there = tuple(sorted(files, key=lambda file: file.name))
    names = {file.name for file in there}
    missing = tuple(name for name in entry.files or () if name not in names)
    message = "the manifest names this file, and it is not there"
    findings = [
        Finding("missing_file", "warning", message, group_id=entry.key.group_id, file=f"{entry.relative_dir}/{name}")
        for name in missing
    ]
    return ArchiveGroup(entry.key, entry.run_id, entry.relative_dir, there, missing), findings
