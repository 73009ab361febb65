"""The Parquet tables as Spark DataFrames, with the declared columns and types.

Spark percent-decodes a directory's name byte by byte, so that `café` arrives as `cafÃ©`; `read_table` puts that right.
Who reads the folder with `spark.read` alone finds the right keys in `group_id`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

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
    keys = _garbled_keys(frame.inputFiles()) if table.grouped else {}
    return frame.select(*(_published(c.name, keys.get(c.name, {})) for c in schema.fields))


def _garbled_keys(files: Iterable[str]) -> dict[str, dict[str, str]]:
    """What Spark makes of keys that are not ASCII, and what they are, by key. `files` are URIs, so that a directory's
    percent-encoded name is percent-encoded once more."""
    found: dict[str, dict[str, str]] = {}
    for directory in {part for file in files for part in file.split("/")[:-1]}:
        key, equals, value = unquote(directory).partition("=")
        published = unquote(value)
        if equals and key in KEYS and not published.isascii():
            found.setdefault(key, {})[published.encode().decode("latin-1")] = published
    return found


def _published(name: str, garbled: Mapping[str, str]) -> Column:
    """A column with these of its values put right. Only columns that need it are touched, so that a filter on any
    other key still decides which files are read."""
    from pyspark.sql import functions as F

    column = F.col(f"`{name}`")
    result = column
    for wrong, right in garbled.items():
        result = F.when(column == wrong, F.lit(right)).otherwise(result)
    return result.alias(name)
