"""Keeps published_history: which published numbers held from which refresh to which.

A refresh compares what is published now with the rows that had not ended. What is the same stays one row; what moved or
is gone ends its row; what is new, moved or back starts one. All of it is one statement, because fifty refreshes of the
whole archive are a hundred thousand rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from pipelines.load.partitions import read_single, write_single
from pipelines.load.views import literal
from schemas import TABLES
from schemas.model import KEYS, Table

if TYPE_CHECKING:
    import duckdb

PUBLISHED_HISTORY = TABLES["published_history"]

#: The published numbers of a dataset group; each is a metric by the name of its column.
_DATASET_METRICS = tuple(column.name for column in TABLES["summary_datasets"] if column.kind == "number")
_IDENTITY = (*KEYS, "group_id", "protocol", "dataset_group", "metric")


@dataclass(frozen=True)
class HistoryUpdate:
    """The refresh that is being made. `previous` is the Parquet folder of the last snapshot, whatever made it; None
    where there is none."""

    previous: Path | None
    refresh_id: int
    revision: str


def write_history(connection: duckdb.DuckDBPyConnection, parquet_dir: Path, update: HistoryUpdate) -> None:
    """Write the Parquet file of published_history from the tables in the connection's current schema."""
    write_single(parquet_dir, PUBLISHED_HISTORY, update_history(connection, update))


def update_history(connection: duckdb.DuckDBPyConnection, update: HistoryUpdate) -> pa.Table:
    """The history after this refresh: the last one's, with what summary_metrics and summary_datasets say now."""
    empty = PUBLISHED_HISTORY.arrow_schema().empty_table()
    previous = empty if update.previous is None else carried_over(update.previous, PUBLISHED_HISTORY)
    identity = ", ".join(_IDENTITY)
    same_number = " AND ".join(
        f"held.{name} IS NOT DISTINCT FROM published.{name}"
        for name in ("group_id", "protocol", "dataset_group", "metric")
    )
    # NaN is NaN here, and 1 is 1.0.
    same_value = " AND ".join(f"held.{name} IS NOT DISTINCT FROM published.{name}" for name in ("value", "value_text"))
    now, revision = str(int(update.refresh_id)), literal(update.revision)
    keys = ", ".join(KEYS)
    connection.register("previous_history", previous)
    rows = connection.sql(
        f"""
        WITH published AS (
            SELECT {keys}, group_id, protocol, CAST(NULL AS VARCHAR) AS dataset_group, metric, value, value_text
            FROM summary_metrics
            UNION ALL
            SELECT {keys}, group_id, protocol, dataset_group, metric, value, CAST(NULL AS VARCHAR) AS value_text
            FROM (
                UNPIVOT (SELECT {keys}, group_id, protocol, dataset_group, {", ".join(_DATASET_METRICS)}
                         FROM summary_datasets)
                ON {", ".join(_DATASET_METRICS)} INTO NAME metric VALUE value
            )
        ),
        held AS (SELECT * FROM previous_history WHERE valid_to IS NULL),
        compared AS (
            SELECT held.*, (published.group_id IS NOT NULL AND {same_value}) AS holds
            FROM held LEFT JOIN published ON {same_number}
        ),
        updated AS (
            SELECT * FROM previous_history WHERE valid_to IS NOT NULL
            UNION ALL
            SELECT {identity}, valid_from,
                CASE WHEN NOT holds THEN {now} END AS valid_to,
                revision,
                CASE WHEN NOT holds THEN {revision} END AS end_revision,
                value, value_text
            FROM compared
            UNION ALL
            SELECT {", ".join(f"published.{name}" for name in _IDENTITY)},
                {now} AS valid_from, NULL AS valid_to, {revision} AS revision, NULL AS end_revision,
                published.value, published.value_text
            FROM published LEFT JOIN held ON {same_number}
            WHERE held.group_id IS NULL OR NOT ({same_value})
        )
        SELECT {", ".join(PUBLISHED_HISTORY.column_names)}
        FROM updated
        ORDER BY {keys}, protocol, dataset_group NULLS FIRST, metric, valid_from
        """
    ).to_arrow_table()
    connection.unregister("previous_history")
    return rows.cast(PUBLISHED_HISTORY.arrow_schema())


def carried_over(parquet_dir: Path, table: Table) -> pa.Table:
    """The rows of a single-file table of another snapshot in today's form, though another version of this program made
    it: a column that is new is NULL, one that is gone is dropped. Without rows where that cannot be."""
    schema = table.arrow_schema()
    try:
        old = read_single(parquet_dir, table)
        columns = [
            old.column(field.name).cast(field.type)
            if field.name in old.column_names
            else pa.nulls(old.num_rows, field.type)
            for field in schema
        ]
    except (OSError, pa.ArrowException):
        return schema.empty_table()
    filled = all(field.nullable or not column.null_count for field, column in zip(schema, columns, strict=True))
    return pa.Table.from_arrays(columns, schema=schema) if filled else schema.empty_table()
