"""No damage to one group crashes the build, loads a part of that group, or changes a row of another group."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipelines.archive.groups import GroupKey
from pipelines.archive.json_equality import same_json
from pipelines.archive.local import LocalSource
from pipelines.errors import BadRecord
from pipelines.load.group_loader import LoadedGroup, LoadTask, load_group
from pipelines.normalize.group import normalize_group
from schemas import TABLES
from tests.handmade import A_MEM, WO_MEMORY, HandmadeArchive, build
from tests.mutations import mutate
from tests.test_normalize_round_trip import given_back
from tests.test_snapshots import content

pytestmark = pytest.mark.usefixtures("unchecked")

FAST_SEEDS = range(20)
SOAK_SEEDS = range(20, 520)
FEW_BUILDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 6))]


def loaded(root: Path, parquet: Path) -> dict[str, LoadedGroup]:
    source = LocalSource(root)
    listing = source.list_groups()
    tasks = (LoadTask(fetched.group, fetched.paths, parquet) for fetched in source.fetch(listing.groups))
    return {group.group.key.baseline: group for group in map(load_group, tasks)}


def partitions(parquet: Path, baseline: str) -> dict[str, bytes]:
    return {str(p.relative_to(parquet)): p.read_bytes() for p in parquet.rglob(f"baseline={baseline}/*.parquet")}


def check(tmp_path: Path, seed: int) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    damaged = archive.add(A_MEM)
    archive.add(WO_MEMORY)
    untouched = partitions_of_good_group(archive.root, tmp_path / "before")
    done = mutate(damaged, seed)
    groups = loaded(archive.root, tmp_path / "after")
    assert partitions(tmp_path / "after", "wo_memory") == untouched, done
    assert groups["wo_memory"].error is None, done
    bad = groups["a_mem"]
    if bad.error is not None:
        assert partitions(tmp_path / "after", "a_mem") == {}, f"{done}: a part of a bad group was loaded"
        assert bad.error.file is not None, done
        assert bad.error.message.startswith("group quarantined: "), done
        return
    # What loaded is all there: it comes back equal to what Python reads.
    assert_comes_back(damaged, tmp_path / "after", bad, done)


def partitions_of_good_group(root: Path, parquet: Path) -> dict[str, bytes]:
    loaded(root, parquet)
    return partitions(parquet, "wo_memory")


def assert_comes_back(folder: Path, parquet: Path, group: LoadedGroup, done: str) -> None:
    key = GroupKey(*A_MEM)
    tables = {}
    for name, table in TABLES.items():
        file = parquet / name / key.partition_path / "part-0.parquet"
        tables[name] = pq.read_table(file, partitioning=None) if file.exists() else table.arrow_schema().empty_table()
    assert group.facts is not None
    back = given_back(group.facts, tables)
    for path in folder.glob("*.json"):
        document: Any = json.loads(path.read_bytes())
        assert same_json(back[path.name], document), f"{done}: {path.name} does not come back"


@pytest.mark.parametrize("seed", FAST_SEEDS)
def test_damage_stops_its_own_group_at_most(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SOAK_SEEDS)
def test_damage_stops_its_own_group_at_most_for_hundreds_of_seeds(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed)


@pytest.mark.parametrize("seed", FEW_BUILDS)
def test_a_whole_build_over_damage_publishes_every_good_group(tmp_path: Path, seed: int) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    damaged = archive.add(A_MEM)
    archive.add(WO_MEMORY)
    build(archive.root, tmp_path / "warehouse")
    before = content(tmp_path / "warehouse")
    done = mutate(damaged, seed)
    build(archive.root, tmp_path / "warehouse")
    after = content(tmp_path / "warehouse")
    for table in ("predictions", "evaluations", "sample_metrics", "sample_scores", "summary_metrics", "run_configs"):
        good = [[row for row in rows[table] if "wo_memory" in row] for rows in (before, after)]
        assert good[0] == good[1] != [], f"{done}: {table}"


def test_a_group_of_bad_bytes_is_refused_before_a_row_is_made() -> None:
    with pytest.raises(BadRecord):
        normalize_group(GroupKey(*A_MEM), "a", {"summary.json": b"\x00"}, lambda table, batch: None)
