"""The standard views on Spark, from the same files of sql/ that DuckDB runs, translated by sqlglot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.load.views import ViewFile, in_order, list_views
from pipelines.spark.tables import parquet_root, read_table
from schemas import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register_views(spark: SparkSession, path: Path | str) -> list[str]:
    """Make every table and every standard view of a warehouse known to a session, as temporary views of their names.

    `path` is a warehouse, its folder `parquet`, or an exported Parquet snapshot. Views of these names that are there
    are replaced. Returns the names, tables first. The table macros of the DuckDB file are not among them.

    Raises:
        WarehouseError: there are no tables below `path`.
    """
    root = parquet_root(path)
    for name in TABLES:
        read_table(spark, root, name).createOrReplaceTempView(name)
    baselines = [row[0] for row in spark.table("result_groups").select("baseline").distinct().collect()]
    views = spark_views(baselines)
    for name, sql in views.items():
        spark.sql(sql).createOrReplaceTempView(name)
    return [*TABLES, *views]


def spark_views(baselines: Iterable[str]) -> dict[str, str]:
    """Each standard view's query in Spark's SQL, in the order in which they can be created."""
    return {view.name: to_spark(view) for view in in_order(list_views(baselines))}


def to_spark(view: ViewFile) -> str:
    """A view's query in Spark's SQL, with every name quoted."""
    import sqlglot

    return sqlglot.transpile(view.sql, read="duckdb", write="spark", identify=True)[0]
