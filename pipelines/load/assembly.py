"""Puts a snapshot's Parquet together: newly loaded partitions, links to those that stay, and the single-file tables."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines.archive.groups import ArchiveGroup, GroupKey, Listing
from pipelines.archive.json_reader import dumps, loads
from pipelines.findings import Finding, Stage
from pipelines.load.group_loader import QUARANTINED, LoadedGroup
from pipelines.load.history import carried_over
from pipelines.load.partitions import partition_file, read_single, write_single
from pipelines.load.snapshots import Snapshot, link_file
from schemas import TABLES
from schemas.model import KEYS, Table
from schemas.reference.baselines import BASELINES
from schemas.reference.datasets import DATASETS, dataset_group
from schemas.reference.normalization import normalization

_RESULT_GROUPS = TABLES["result_groups"]
_FINDINGS = TABLES["findings"]
_REFRESHES = TABLES["refreshes"]
_GROUPED = [table for table in TABLES.values() if table.grouped]
_LIBRARIES = ("memorybench-warehouse", "duckdb", "pyarrow", "great_expectations")

Row = dict[str, Any]


@dataclass
class Assembly:
    """What the new snapshot will hold. `rows` are those of result_groups by group_id; `linked` are the groups whose
    partitions come from the last snapshot; `differs` is false where that snapshot says the same already."""

    rows: dict[str, Row]
    linked: list[str]
    source_findings: list[Finding]
    input_findings: list[Finding]
    revision: str
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    differs: bool = True

    @property
    def findings(self) -> list[Finding]:
        return [*self.source_findings, *self.input_findings]

    @property
    def groups_by_status(self) -> dict[str, int]:
        return dict(Counter(row["status"] for row in self.rows.values()))


def result_group_rows(parquet_dir: Path) -> dict[str, Row]:
    """The rows of result_groups by group_id."""
    return {row["group_id"]: row for row in read_single(parquet_dir, _RESULT_GROUPS).to_pylist()}


def digests(row: Row) -> dict[str, str]:
    """The digest of each file of a row of result_groups."""
    return {file["name"]: file["digest"] for file in loads(row["files"].encode())}


def same_place(group: ArchiveGroup, row: Row) -> bool:
    """Whether a row of result_groups says of the group's place and completeness what the listing says."""
    status = "partial" if group.missing else "complete"
    return (row["run_id"], row["relative_dir"], row["status"]) == (group.run_id, group.relative_dir, status)


def assemble(
    listing: Listing,
    previous_rows: Mapping[str, Row],
    previous: Snapshot | None,
    loaded: Iterable[LoadedGroup],
    kept: Iterable[str],
) -> Assembly:
    """Decide the new content of result_groups and of the findings on input."""
    previous_findings = _findings_by_group(previous)
    rows: dict[str, Row] = {group_id: previous_rows[group_id] for group_id in kept}
    linked = list(rows)
    input_findings = [finding for group_id in rows for finding in previous_findings.get(group_id, [])]
    added: list[str] = []
    changed: list[str] = []
    for group in loaded:
        group_id = group.group.key.group_id
        old = previous_rows.get(group_id)
        has_data = old is not None and old["status"] != "quarantined"
        if group.unchanged:
            assert old is not None
            rows[group_id] = old
            linked.append(group_id)
            input_findings += previous_findings.get(group_id, [])
            continue
        if group.error is not None:
            if has_data:
                rows[group_id] = {**(old or {}), "status": "stale"}
                linked.append(group_id)
                input_findings += [f for f in previous_findings.get(group_id, []) if f.check != group.error.check]
                input_findings.append(_of_a_stale_group(group.error))
            else:
                rows[group_id] = _quarantined_row(group)
                input_findings.append(group.error)
        else:
            rows[group_id] = _loaded_row(group)
            if old is not None and old["files"] == rows[group_id]["files"]:
                rows[group_id]["first_revision"] = old["first_revision"]
            input_findings += group.facts.findings if group.facts else []
            (changed if has_data else added).append(group_id)
    rows = dict(sorted(rows.items(), key=lambda item: tuple(item[1][key] for key in KEYS)))
    revision = listing.revision or _content_revision(rows.values())
    for row in rows.values():
        row["first_revision"] = row["first_revision"] or revision
    result = Assembly(rows, linked, list(listing.findings), sorted_findings(input_findings), revision, added, changed)
    if previous is not None:
        old_source = read_findings(previous, "source")
        result.differs = rows != previous_rows or sorted_findings(result.source_findings) != old_source
        result.differs = result.differs or result.input_findings != read_findings(previous, "input")
    return result


def _loaded_row(group: LoadedGroup) -> Row:
    facts = group.facts
    assert facts is not None
    return {
        **_listed(group),
        "status": "partial" if group.group.missing else "complete",
        "validity": group.validity.value,
        "validity_reasons": group.validity.text,
        "protocols": ",".join(facts.protocols) or None,
        "datasets": dumps(facts.datasets),
        "n_predictions": facts.n_predictions,
        "n_evaluations": facts.n_evaluations,
        "n_failed": facts.n_failed,
        "n_scores": facts.n_scores,
        "residue": facts.residue,
    }


def _of_a_stale_group(error: Finding) -> Finding:
    reason = error.message.removeprefix(QUARANTINED)
    return replace(error, message=f"group stale, its last good version stays: {reason}")


def _quarantined_row(group: LoadedGroup) -> Row:
    row = dict.fromkeys(_RESULT_GROUPS.column_names)
    return {**row, **_listed(group), "status": "quarantined", "datasets": "[]"}


def _listed(group: LoadedGroup) -> Row:
    key = group.group.key
    return {
        **key._asdict(),
        "group_id": key.group_id,
        "run_id": group.group.run_id,
        "relative_dir": group.group.relative_dir,
        "first_revision": None,
        "files": dumps(group.files),
    }


def _content_revision(rows: Iterable[Row]) -> str:
    """A revision for a source that has none: what the groups hold."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(f"{row['group_id']}\n{row['files']}\n".encode())
    return f"content-{digest.hexdigest()[:16]}"


def write(assembly: Assembly, previous: Snapshot | None, parquet_dir: Path) -> None:
    """Write the assembly below `parquet_dir`, beside the partitions that were loaded into it."""
    for group_id in assembly.linked:
        assert previous is not None
        row = assembly.rows[group_id]
        path = GroupKey(*(row[key] for key in KEYS)).partition_path
        for table in _GROUPED:
            file = partition_file(previous.parquet, table.name, path)
            if file.exists():
                link_file(file, partition_file(parquet_dir, table.name, path))
    _write_rows(parquet_dir, _RESULT_GROUPS, assembly.rows.values())
    _write_rows(parquet_dir, TABLES["datasets"], _dataset_rows(assembly.rows.values()))
    _write_rows(parquet_dir, TABLES["baselines"], _baseline_rows(assembly.rows.values()))
    _write_rows(parquet_dir, TABLES["normalization"], _normalization_rows())
    write_findings(parquet_dir, {"source": assembly.source_findings, "input": assembly.input_findings})


def _write_rows(parquet_dir: Path, table: Table, rows: Iterable[Row]) -> None:
    write_single(parquet_dir, table, pa.Table.from_pylist(list(rows), schema=table.arrow_schema()))


def _dataset_rows(rows: Iterable[Row]) -> list[Row]:
    observed = {name for row in rows for name in loads(row["datasets"].encode())}
    table = TABLES["datasets"]
    unknown = dict.fromkeys(table.column_names)
    return [
        asdict(DATASETS[name])
        if name in DATASETS
        else {**unknown, "dataset": name, "dataset_group": dataset_group(name)}
        for name in sorted(DATASETS.keys() | observed)
    ]


def _baseline_rows(rows: Iterable[Row]) -> list[Row]:
    observed = {row["baseline"] for row in rows}
    unknown = dict.fromkeys(TABLES["baselines"].column_names)
    return [
        asdict(BASELINES[name]) if name in BASELINES else {**unknown, "baseline": name}
        for name in sorted(BASELINES.keys() | observed)
    ]


def _normalization_rows() -> list[Row]:
    return [
        {
            "split": row.split,
            "collection": row.collection,
            "dataset_group": row.dataset_group,
            "min": row.minimum,
            "max": row.maximum,
            "mu": row.mu,
            "sigma": row.sigma,
        }
        for row in normalization()
    ]


def write_findings(parquet_dir: Path, by_stage: Mapping[Stage, Iterable[Finding]]) -> None:
    """Write the table findings, each stage's in a fixed order."""
    rows = [
        {"stage": stage, **asdict(finding)}
        for stage, findings in by_stage.items()
        for finding in sorted_findings(findings)
    ]
    _write_rows(parquet_dir, _FINDINGS, rows)


def sorted_findings(findings: Iterable[Finding]) -> list[Finding]:
    """A fixed order, whatever order the workers finished in."""
    return sorted(findings, key=lambda f: tuple((value is not None, value) for value in asdict(f).values()))


def read_findings(snapshot: Snapshot, stage: Stage) -> list[Finding]:
    """What one stage found in a snapshot."""
    return [
        Finding(**{name: value for name, value in row.items() if name != "stage"})
        for row in read_single(snapshot.parquet, _FINDINGS).to_pylist()
        if row["stage"] == stage
    ]


def _findings_by_group(snapshot: Snapshot | None) -> dict[str | None, list[Finding]]:
    found: dict[str | None, list[Finding]] = {}
    for finding in read_findings(snapshot, "input") if snapshot else []:
        found.setdefault(finding.group_id, []).append(finding)
    return found


def record_refresh(parquet_dir: Path, database: Path, previous: Snapshot | None, row: Row) -> None:
    """Append the refresh's own row to the history, in Parquet and in the database. `previous` may have been made by
    another version of this program."""
    import duckdb

    from pipelines.load.database import storage_errors

    versions = {name: version(name) for name in _LIBRARIES}
    history = carried_over(previous.parquet, _REFRESHES) if previous else _REFRESHES.arrow_schema().empty_table()
    new = pa.Table.from_pylist([{**row, "versions": dumps(versions)}], schema=_REFRESHES.arrow_schema())
    rows = pa.concat_tables([history, new])
    write_single(parquet_dir, _REFRESHES, rows)
    with storage_errors(), duckdb.connect(str(database)) as connection:
        connection.register("history", rows)
        connection.execute("INSERT INTO refreshes SELECT * FROM history")
        connection.execute("CHECKPOINT")  # closing would do it too, and would not say when the disk is full
