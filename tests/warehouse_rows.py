"""A warehouse of a few rows written by hand, for tests of views: all tables in a DuckDB connection, no archive, no build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from pipelines.archive.groups import GroupKey
from pipelines.load.database import create_table
from pipelines.load.views import create_views, quoted
from schemas import TABLES
from schemas.model import METRICS

#: What a column that may not be NULL holds where the test does not say.
_DEFAULTS: dict[str, Any] = {"text": "", "json": "[]", "integer": 0, "number": 0.0, "boolean": False}


class WarehouseRows:
    """Tables to add rows to, then views to read. A column that is not given is NULL, or a neutral value where it may
    not be NULL."""

    def __init__(self, connection: duckdb.DuckDBPyConnection | None = None) -> None:
        self.connection = connection or duckdb.connect()
        for table in TABLES.values():
            if table.in_database:
                create_table(self.connection, table)

    def insert(self, table: str, **values: Any) -> None:
        columns = TABLES[table].database_columns
        unknown = values.keys() - {column.name for column in columns}
        assert not unknown, f"{table} has no column {unknown}"
        row = [values.get(c.name, None if c.nullable else _DEFAULTS[c.kind]) for c in columns]
        marks = ", ".join("?" for _ in row)
        self.connection.execute(f"INSERT INTO {quoted(table)} VALUES ({marks})", row)

    def add(self, table: str, key: GroupKey, **values: Any) -> None:
        """A row of a table that belongs to groups."""
        self.insert(table, **key._asdict(), group_id=key.group_id, **values)

    def group(
        self,
        experiment: str,
        baseline: str = "a_mem",
        *,
        backbone: str = "Qwen3-8B",
        split: str = "domain",
        collection: str = "Legal",
        protocols: str | None = METRICS,
        status: str = "complete",
        **values: Any,
    ) -> GroupKey:
        """A row of result_groups. Tests that share a warehouse take an experiment each."""
        key = GroupKey(experiment, backbone, split, collection, baseline)
        self.add("result_groups", key, protocols=protocols, status=status, **values)
        return key

    def constants(self, dataset_group: str, *, lowest: float, highest: float, mu: float, sigma: float) -> None:
        self.insert(
            "normalization",
            split="domain",
            collection="Legal",
            dataset_group=dataset_group,
            min=lowest,
            max=highest,
            mu=mu,
            sigma=sigma,
        )

    def scores(
        self,
        key: GroupKey,
        dataset: str,
        scores: Sequence[float | None],
        *,
        protocol: str = METRICS,
        evaluated: int | None = None,
        known: bool = True,
        **values: Any,
    ) -> None:
        """Scores of the samples 0, 1, … of a dataset, and as many evaluations, or `evaluated` many. Where not `known`,
        it is not said whose scores they are."""
        for index in range(len(scores) if evaluated is None else evaluated):
            self.add("evaluations", key, protocol=protocol, dataset=dataset, test_idx=index, position=index)
        for index, score in enumerate(scores):
            row = {
                "protocol": protocol,
                "dataset_group": dataset,
                "dataset": dataset if known else None,
                "test_idx": index if known else None,
                "position": index,
                "score": score,
                "score_counted": 0.0 if score is None else score,
                "origin": "published",
                "kind": "null" if score is None else "float",
            }
            self.add("sample_scores", key, **(row | values))

    def summary(self, key: GroupKey, *, protocol: str = METRICS, **metrics: float | None) -> None:
        """The published numbers of a group."""
        for position, (metric, value) in enumerate(metrics.items()):
            kind = "null" if value is None else "float"
            self.add(
                "summary_metrics", key, protocol=protocol, metric=metric, position=position, value=value, kind=kind
            )

    def create_views(self) -> list[str]:
        return create_views(self.connection)

    def rows(self, view: str, *columns: str, order: str | None = None, **where: Any) -> list[tuple[Any, ...]]:
        """Columns of a view, of the rows where each of `where` holds, ordered by `order` or by the columns."""
        selected = ", ".join(map(quoted, columns))
        conditions = " AND ".join(f"{quoted(name)} IS NOT DISTINCT FROM ?" for name in where)
        query = f"SELECT {selected} FROM {quoted(view)} WHERE {conditions or 'true'} ORDER BY {order or 'ALL'}"
        return self.connection.execute(query, list(where.values())).fetchall()

    def row(self, view: str, **where: Any) -> Mapping[str, Any]:
        """The one row of a view where each of `where` holds."""
        conditions = " AND ".join(f"{quoted(name)} IS NOT DISTINCT FROM ?" for name in where)
        cursor = self.connection.execute(f"SELECT * FROM {quoted(view)} WHERE {conditions}", list(where.values()))
        names = [column[0] for column in cursor.description]
        found = cursor.fetchall()
        assert len(found) == 1, f"{len(found)} rows of {view} where {where}"
        return dict(zip(names, found[0], strict=True))
