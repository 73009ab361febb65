"""The Parquet tables as Spark DataFrames, with the declared columns and types.

Spark percent-decodes a directory's name byte by byte, so that `café` arrives as `cafÃ©`; `read_table` puts that right.
Who reads the folder with `spark.read` alone finds the right keys in `group_id`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import WarehouseError
from schemas import TABLES
from schemas.model import KEYS, Kind, Table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Column types as Spark's DDL has them.
SPARK_TYPES: dict[Kind, str] = {
    "text": "string",
    "json": "string",
    "integer": "bigint",
    "number": "double",
    "boolean": "boolean",
    "timestamp": "timestamp",
    "messages": "array<struct<role: string, content: string>>",
}
_FOLDERS = ("parquet", "data")


def parquet_root(path: Path | str) -> str:
    """The folder that holds the tables' folders: `path` itself, or the one in a warehouse or an exported snapshot.

    A local path is resolved, so that everything that is read comes from one snapshot however often the warehouse is
    refreshed meanwhile. An address such as s3a://… is taken as it is.

    Raises:
        WarehouseError: there are no tables below `path`.
    """
    if "://" in str(path):
        return str(path).rstrip("/")
    root = Path(path).expanduser()
    for folder in (root, *(root / name for name in _FOLDERS)):
        if (folder / "result_groups").is_dir():
            return str(folder.resolve())
    raise WarehouseError(f"There are no Parquet tables at {root}. Name a warehouse, its folder parquet, or an export.")


def spark_schema(table: Table) -> StructType:
    """The table's columns, keys included, as Spark has them."""
    from pyspark.sql.types import StructType

    return StructType.fromDDL(", ".join(f"`{c.name}` {SPARK_TYPES[c.kind]}" for c in table.database_columns))


def read_table(spark: SparkSession, path: Path | str, name: str) -> DataFrame:
    """One table; without rows where there is no file of it. A filter on keys reads the files of these keys alone.

    Raises:
        WarehouseError: there are no tables below `path`.
        KeyError: there is no table of that name.
    """
    from pyspark.errors import AnalysisException

    table = TABLES[name]
    schema = spark_schema(table)
    folder = f"{parquet_root(path)}/{table.name}"
    try:
        # With its schema given, no key that looks like a number or a date is taken for one.
        frame = spark.read.schema(schema).parquet(folder)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return spark.createDataFrame([], schema)
    in_path = any(f"/{KEYS[0]}=" in file for file in frame.inputFiles()[:1]) if table.grouped else False
    return frame.select(*(_ungarbled(c.name) if in_path and c.name in KEYS else frame[c.name] for c in schema.fields))


def _ungarbled(key: str) -> Column:
    """A key from a path as it was published. Each character of the garbled text is one byte of the right one."""
    from pyspark.sql import functions as F

    column = F.col(key)
    is_ascii = column.rlike(r"\A[\x00-\x7f]*\z")
    return F.when(is_ascii, column).otherwise(F.decode(F.encode(column, "ISO-8859-1"), "UTF-8")).alias(key)
