"""Fills gain_tests and ratings: what SQL cannot say, computed from the scores as the views define them.

Figures whose inputs did not change since the last snapshot are taken over from it. The inputs of a gain are the groups
of its family (one experiment, backbone, split and collection), those of a rating the groups of its split, each by its
name, its files' digests and its validity.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
import pyarrow as pa

from pipelines.load.partitions import read_single, write_single
from pipelines.statistics.tables import FamilyKey, Group, Row, Scores, SplitKey, gain_rows, rating_rows
from schemas import TABLES
from schemas.model import Table

if TYPE_CHECKING:
    import duckdb

GAIN_TESTS = TABLES["gain_tests"]
RATINGS = TABLES["ratings"]
STATISTICS = (GAIN_TESTS, RATINGS)

_Key = TypeVar("_Key", FamilyKey, SplitKey)


def preload() -> None:
    """Import what takes long to import; a build has a thread do it while others work."""
    import scipy.special  # noqa: F401


def write_statistics(connection: duckdb.DuckDBPyConnection, parquet_dir: Path, previous: Path | None) -> None:
    """Write the Parquet files of both tables from the connection's current schema, which has all other tables and the
    views. `previous` is the Parquet folder of the last snapshot, or None where nothing may be taken over."""
    families: dict[FamilyKey, list[Group]] = {}
    splits: dict[SplitKey, list[Group]] = {}
    for group, protocols in _groups(connection):
        for protocol in protocols:
            families.setdefault(FamilyKey(*group[:4], protocol), []).append(group)
            splits.setdefault(SplitKey(group.experiment, group.split, protocol), []).append(group)
    gains = _Reuse(GAIN_TESTS, families, previous)
    ratings = _Reuse(RATINGS, splits, previous)
    changed = {group.group_id for groups in [*gains.changed.values(), *ratings.changed.values()] for group in groups}
    scores = _scores(connection, changed)
    gains.rows += [
        row
        for key, groups in gains.changed.items()
        for row in gain_rows(key, groups, scores.get(key.protocol, {}), _digest(key, groups))
    ]
    ratings.rows += [
        row
        for key, groups in ratings.changed.items()
        for row in rating_rows(key, groups, scores.get(key.protocol, {}), _digest(key, groups))
    ]
    for table, rows in ((GAIN_TESTS, gains.rows), (RATINGS, ratings.rows)):
        rows.sort(key=lambda row: tuple(row[name] or "" for name in table.key))
        write_single(parquet_dir, table, pa.Table.from_pylist(rows, schema=table.arrow_schema()))


class _Reuse(Generic[_Key]):
    """`rows` are those of the last snapshot whose inputs are the same; `changed` are the inputs of all others."""

    def __init__(self, table: Table, inputs: Mapping[_Key, list[Group]], previous: Path | None) -> None:
        old: dict[str, list[Row]] = {}
        if previous is not None:
            for row in read_single(previous, table).to_pylist():
                old.setdefault(row["inputs_digest"], []).append(row)
        self.rows: list[Row] = []
        self.changed: dict[_Key, list[Group]] = {}
        for key, groups in inputs.items():
            same = old.get(_digest(key, groups), [])
            self.rows += same
            if not same:
                self.changed[key] = groups


def _digest(key: FamilyKey | SplitKey, groups: list[Group]) -> str:
    digest = hashlib.sha256()
    for text in (*key, *(value or "" for group in groups for value in group[5:])):
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def _groups(connection: duckdb.DuckDBPyConnection) -> list[tuple[Group, list[str]]]:
    """Every group that was scored, by name, with its protocols."""
    rows = connection.execute(
        f"SELECT {', '.join(Group._fields)}, protocols FROM result_groups WHERE protocols IS NOT NULL ORDER BY group_id"
    ).fetchall()
    return [(Group(*row[:-1]), row[-1].split(",")) for row in rows]


def _scores(connection: duckdb.DuckDBPyConnection, group_ids: Iterable[str]) -> dict[str, dict[str, Scores]]:
    """The published scores of some groups, by protocol and group."""
    arrow = connection.sql(
        """
        SELECT group_id, protocol, dataset_group, dataset, test_idx, score, minmax_score, is_finite, failed
        FROM normalized_scores
        WHERE group_id IN (SELECT unnest(?))
            AND origin = 'published' AND score IS NOT NULL AND dataset IS NOT NULL AND test_idx IS NOT NULL
        ORDER BY group_id, protocol, dataset, test_idx
        """,
        params=[sorted(group_ids)],
    ).to_arrow_table()
    names, protocols, dataset_groups, datasets, indexes = (arrow.column(i).to_pylist() for i in range(5))
    score, minmax = (arrow.column(i).to_numpy().astype(np.float64) for i in (5, 6))
    finite, failed = (arrow.column(i).fill_null(False).to_numpy() for i in (7, 8))
    has_constants = ~(finite & np.isnan(minmax))
    found: dict[str, dict[str, Scores]] = {}
    begin = 0
    for (name, protocol), rows in groupby(zip(names, protocols, strict=True)):
        part = slice(begin, begin := begin + len(list(rows)))
        found.setdefault(protocol, {})[name] = Scores(
            samples=list(zip(datasets[part], indexes[part], strict=True)),
            dataset_groups=dataset_groups[part],
            score=score[part],
            minmax=minmax[part],
            has_constants=has_constants[part],
            failed=failed[part],
        )
    return found
