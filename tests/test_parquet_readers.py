"""The Parquet opens as one dataset for each table, keys included, in DuckDB, pyarrow, pandas and Polars."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from schemas import TABLES
from schemas.model import KEYS, Table
from tests.conftest import leave_out_checks
from tests.consumers import example
from tests.handmade import MEM0, HandmadeArchive, build

#: A key that a reader would take for a number, one that must be unescaped, one with a space.
NUMBER = ("off-policy", "2024", "domain", "Academic&Knowledge", "a_mem")
SPACED = ("stepwise off-policy", "Qwen3-8B", "task", "Long-Short", "uno-single")
GROUPED = [table for table in TABLES.values() if table.grouped]
SCHEMA = pa.schema([*(pa.field(key, pa.string()) for key in KEYS), *TABLES["predictions"].arrow_schema()])
POLARS = {"text": pl.String, "json": pl.String, "integer": pl.Int64, "boolean": pl.Boolean}
FLAVOR = ds.partitioning(pa.schema([(key, pa.string()) for key in KEYS]), flavor="hive")


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("readers")
    archive = HandmadeArchive(root / "archive")
    for keys in (NUMBER, SPACED, MEM0):
        archive.add(keys)
    with pytest.MonkeyPatch.context() as patch:
        leave_out_checks(patch)
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


@pytest.mark.parametrize("section", ["Polars", "pyarrow and pandas"])
def test_the_example_of_the_page_on_readers_runs(parquet: Path, monkeypatch: pytest.MonkeyPatch, section: str) -> None:
    monkeypatch.chdir(parquet.parent.parent)
    code = example(section).rstrip()
    *statements, last = code.splitlines()
    names: dict[str, object] = {}
    exec("\n".join(statements), names)
    found = eval(last, names)
    assert isinstance(found, pl.DataFrame | pd.DataFrame)
    assert len(found)


def test_the_example_for_duckdb_runs(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(parquet.parent.parent)
    assert {row[0] for row in duckdb.sql(example("DuckDB", "sql")).fetchall()} == {"mem0", "uno-single"}


# Push-down of keys: a filter on one backbone reads that backbone's files alone. Those of all others are broken.


@pytest.fixture(scope="module")
def one_good_backbone(parquet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of which only the files of backbone 2024 can be read."""
    folder = tmp_path_factory.mktemp("push-down") / "predictions"
    shutil.copytree(parquet / "predictions", folder)
    broken = [path for path in folder.rglob("*.parquet") if "backbone=2024" not in str(path)]
    assert len(broken) == 2
    for path in broken:
        path.write_bytes(b"not Parquet")
    return folder


def with_duckdb(folder: Path, backbone: str | None) -> int:
    source = f"read_parquet('{folder}/**/*.parquet', hive_partitioning=true, hive_types_autocast=false)"
    where = f" WHERE backbone = '{backbone}'" if backbone else ""
    return len(duckdb.sql(f"SELECT response FROM {source}{where}").fetchall())


def with_pyarrow(folder: Path, backbone: str | None) -> int:
    dataset = ds.dataset(folder, schema=SCHEMA, partitioning=FLAVOR)
    return dataset.to_table(filter=ds.field("backbone") == backbone if backbone else None).num_rows


def with_pandas(folder: Path, backbone: str | None) -> int:
    filters = [("backbone", "==", backbone)] if backbone else None
    return len(pd.read_parquet(folder, partitioning=FLAVOR, schema=SCHEMA, filters=filters))


def with_polars(folder: Path, backbone: str | None) -> int:
    types = {c.name: POLARS[c.kind] for c in TABLES["predictions"]}
    scan = pl.scan_parquet(folder, schema=types, hive_partitioning=True, hive_schema=dict.fromkeys(KEYS, pl.String()))
    return scan.filter(pl.col("backbone") == backbone if backbone else True).select("response").collect().height


READERS = {"DuckDB": with_duckdb, "pyarrow": with_pyarrow, "pandas": with_pandas, "Polars": with_polars}


@pytest.mark.parametrize("reader", READERS)
def test_a_filter_on_one_backbone_reads_its_files_alone(one_good_backbone: Path, reader: str) -> None:
    assert READERS[reader](one_good_backbone, "2024") == 3
    with pytest.raises((duckdb.Error, pa.ArrowException, pl.exceptions.PolarsError)):
        READERS[reader](one_good_backbone, None)


def test_a_filter_leaves_one_fragment_and_its_row_groups(parquet: Path) -> None:
    dataset = ds.dataset(parquet / "predictions", partitioning=FLAVOR)
    chosen = list(dataset.get_fragments(filter=ds.field("backbone") == "2024"))
    assert (len(chosen), len(list(dataset.get_fragments()))) == (1, 3)
    (fragment,) = chosen
    assert not fragment.subset(ds.field("test_idx") > 1_000_000).row_groups
    assert len(fragment.subset(ds.field("test_idx") == 3).row_groups) == 1
