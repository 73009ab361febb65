"""The Parquet opens as one dataset for each table, keys included, in DuckDB, pyarrow, pandas and Polars."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from schemas import TABLES
from schemas.model import KEYS, Table
from tests.handmade import MEM0, HandmadeArchive, build

#: A key that a reader would take for a number, one that must be unescaped, one with a space.
NUMBER = ("off-policy", "2024", "domain", "Academic&Knowledge", "a_mem")
SPACED = ("stepwise off-policy", "Qwen3-8B", "task", "Long-Short", "uno-single")
GROUPED = [table for table in TABLES.values() if table.grouped]
FLAVOR = ds.partitioning(pa.schema([(key, pa.string()) for key in KEYS]), flavor="hive")


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("readers")
    archive = HandmadeArchive(root / "archive")
    for keys in (NUMBER, SPACED, MEM0):
        archive.add(keys)
    build(archive.root, root / "warehouse")
    return root / "warehouse" / "parquet"


def expected(table: Table) -> set[tuple[str, ...]]:
    return {NUMBER, SPACED, MEM0}


@pytest.mark.parametrize("table", GROUPED, ids=lambda table: f"{table.name} with DuckDB")
def test_duckdb_reads(parquet: Path, table: Table) -> None:
    source = f"read_parquet('{parquet}/{table.name}/**/*.parquet', hive_partitioning=true, hive_types_autocast=false)"
    rows = duckdb.sql(f"SELECT DISTINCT {', '.join(KEYS)} FROM {source}").fetchall()
    assert set(rows) == expected(table)


@pytest.mark.parametrize("table", GROUPED, ids=lambda table: f"{table.name} with pyarrow")
def test_pyarrow_reads(parquet: Path, table: Table) -> None:
    dataset = ds.dataset(parquet / table.name, partitioning=FLAVOR)
    read = dataset.to_table()
    assert set(zip(*(read[key].to_pylist() for key in KEYS), strict=True)) == expected(table)
    assert read.select(table.column_names).schema.equals(table.arrow_schema())


@pytest.mark.parametrize("table", GROUPED, ids=lambda table: f"{table.name} with pandas")
def test_pandas_reads(parquet: Path, table: Table) -> None:
    frame = pd.read_parquet(parquet / table.name, partitioning=FLAVOR)
    assert set(frame[list(KEYS)].astype(str).itertuples(index=False, name=None)) == expected(table)


@pytest.mark.parametrize("table", GROUPED, ids=lambda table: f"{table.name} with Polars")
def test_polars_reads(parquet: Path, table: Table) -> None:
    scan = pl.scan_parquet(parquet / table.name, hive_partitioning=True, hive_schema=dict.fromkeys(KEYS, pl.String()))
    assert set(scan.select(KEYS).unique().collect().rows()) == expected(table)
    one = scan.filter(pl.col("collection") == "Academic&Knowledge").select(pl.len()).collect().item()
    assert 0 < one < scan.select(pl.len()).collect().item()


@pytest.mark.parametrize("table", [t for t in TABLES.values() if not t.grouped], ids=lambda table: table.name)
def test_a_table_that_is_one_file_has_its_declared_columns(parquet: Path, table: Table) -> None:
    assert ds.dataset(parquet / table.name).schema.equals(table.arrow_schema())


def test_one_file_alone_says_which_group_it_belongs_to(parquet: Path) -> None:
    file = next((parquet / "predictions").rglob("baseline=mem0/part-0.parquet"))
    assert set(pd.read_parquet(file, partitioning=None)["group_id"]) == {"/".join(MEM0)}
