"""Compares layouts of the Parquet by size and by what reading costs; docs/parquet-layout.md has the figures.

    python -m benchmarks.layout [--warehouse DIR] [--backbone NAME] [--rounds N] [--only PART]… [--spark]

Rewrites the tables of a warehouse in other ways into a temporary folder and prints Markdown. Times are the smallest of
some rounds, taken in turns, with the files in the page cache: they compare ways of storing, not machines.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pipelines.archive.groups import GroupKey
from pipelines.export.files import exported_schema, table_rows
from pipelines.load.assembly import result_group_rows
from pipelines.load.partitions import LOW_CARDINALITY, partition_file
from pipelines.load.snapshots import Warehouse
from pipelines.load.views import literal
from schemas import TABLES
from schemas.model import KEYS, Table

METRIC = "f1"
BULK = ("prompts", "predictions", "sample_annotations", "sample_metrics")
HIVE = ds.partitioning(pa.schema([(key, pa.string()) for key in KEYS]), flavor="hive")


@dataclass(frozen=True)
class Way:
    """One way to write. `row_group_rows` None: as the loader makes them, a few MB of text each; 0: one a file."""

    name: str
    compression: str = "zstd"
    level: int | None = 3
    dictionary: str = "low"
    row_group_rows: int | None = None
    options: dict[str, Any] = field(default_factory=dict, hash=False)


TODAY = Way("as written: zstd 3, dictionaries where values repeat, a file for each group")
COMPRESSIONS = (
    replace(TODAY, name="not compressed", compression="none", level=None),
    replace(TODAY, name="snappy", compression="snappy", level=None),
    replace(TODAY, name="lz4", compression="lz4", level=None),
    replace(TODAY, name="zstd 1", level=1),
    TODAY,
    replace(TODAY, name="zstd 6", level=6),
    replace(TODAY, name="zstd 12", level=12),
)
ENCODINGS = (
    replace(TODAY, name="no dictionary", dictionary="none"),
    TODAY,
    replace(TODAY, name="dictionary for every column", dictionary="all"),
)
GROUPINGS = (
    TODAY,
    replace(TODAY, name="one row group a file", row_group_rows=0),
    replace(TODAY, name="row groups of 8 rows", row_group_rows=8),
    replace(TODAY, name="row groups of 32 rows", row_group_rows=32),
)

WRITING = {"compression": COMPRESSIONS, "dictionaries": ENCODINGS, "row groups": GROUPINGS}


class Groups:
    """The warehouse's groups and its files."""

    def __init__(self, parquet: Path) -> None:
        self.parquet = parquet
        keys = sorted(GroupKey(*(row[key] for key in KEYS)) for row in result_group_rows(parquet).values())
        self.keys = [(key, key.partition_path) for key in keys]

    def files(self, table: Table) -> Iterator[tuple[str, Path]]:
        for _, path in self.keys:
            file = partition_file(self.parquet, table.name, path)
            if file.exists():
                yield path, file


def writer(path: Path, schema: pa.Schema, way: Way) -> pq.ParquetWriter:
    low = [f.name for f in schema if f.name in LOW_CARDINALITY or f.name in KEYS]
    if "messages" in schema.names:
        low.append("messages.list.element.role")
    path.parent.mkdir(parents=True, exist_ok=True)
    dictionary = {"low": low, "all": True, "none": False}[way.dictionary]
    return pq.ParquetWriter(
        path, schema, compression=way.compression, compression_level=way.level, use_dictionary=dictionary, **way.options
    )


def rewrite(groups: Groups, table: Table, way: Way, root: Path) -> float:
    """Write a table's partitions another way; returns the seconds that writing took, reading apart."""
    spent = 0.0
    for path, file in groups.files(table):
        with pq.ParquetFile(file) as source:
            pieces = [source.read_row_group(i) for i in range(source.num_row_groups)]
        rows = [pa.concat_tables(pieces)] if way.row_group_rows is not None and pieces else pieces
        started = time.perf_counter()
        with writer(partition_file(root, table.name, path), table.arrow_schema(), way) as sink:
            for piece in rows:
                size = way.row_group_rows or max(1, piece.num_rows)
                sink.write_table(piece, row_group_size=size)
        spent += time.perf_counter() - started
    return spent


def flatten(groups: Groups, table: Table, root: Path, row_group_rows: int) -> None:
    """Write a table as one file with the keys inside."""
    schema = exported_schema(table)
    rows = pa.concat_tables(table_rows(groups.parquet, table, groups.keys))
    with writer(root / table.name / "part-00000.parquet", schema, TODAY) as sink:
        sink.write_table(rows, row_group_size=row_group_rows)


def size(folder: Path) -> int:
    return sum(os.stat(Path(where) / name).st_size for where, _, names in os.walk(folder) for name in names)


def smallest(actions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of each action: the smallest of some rounds, in turns."""
    found: dict[str, float] = {}
    for _ in range(rounds):
        for name, action in actions.items():
            started = time.perf_counter()
            action()
            found[name] = min(found.get(name, float("inf")), time.perf_counter() - started)
    return found


def duckdb_source(folder: Path, *, hive: bool) -> str:
    pattern = literal(f"{folder}/{'*/' * len(KEYS) if hive else ''}*.parquet")
    return f"read_parquet({pattern}, hive_partitioning={str(hive).lower()}, hive_types_autocast=false)"


def scan_duckdb(folder: Path, *, hive: bool) -> object:
    query = (
        f"SELECT backbone, baseline, avg(value) FROM {duckdb_source(folder, hive=hive)} WHERE metric = ? GROUP BY ALL"
    )
    return duckdb.execute(query, [METRIC]).fetchall()


def scan_pyarrow(folder: Path, *, hive: bool) -> object:
    dataset = ds.dataset(folder, partitioning=HIVE if hive else None, format="parquet")
    rows = dataset.to_table(columns=["backbone", "baseline", "value"], filter=ds.field("metric") == METRIC)
    return rows.group_by(["backbone", "baseline"]).aggregate([("value", "mean")])


def scan_polars(folder: Path, *, hive: bool) -> object:
    import polars as pl

    scan = pl.scan_parquet(folder, hive_partitioning=hive, hive_schema=_polars_keys() if hive else None)
    return (
        scan.filter(pl.col("metric") == METRIC).group_by("backbone", "baseline").agg(pl.col("value").mean()).collect()
    )


def scan_pandas(folder: Path, *, hive: bool) -> object:
    import pandas as pd

    options: dict[str, Any] = {"partitioning": HIVE} if hive else {}
    columns = ["backbone", "baseline", "value", "metric"]
    frame = pd.read_parquet(folder, columns=columns, filters=[("metric", "==", METRIC)], **options)
    return frame.groupby(["backbone", "baseline"], observed=True)["value"].mean()


def _polars_keys() -> Any:
    import polars as pl

    return dict.fromkeys(KEYS, pl.String())


SCANS = {"DuckDB": scan_duckdb, "pyarrow": scan_pyarrow, "Polars": scan_polars, "pandas": scan_pandas}


def open_duckdb(folder: Path, *, hive: bool) -> object:
    return duckdb.sql(f"FROM {duckdb_source(folder, hive=hive)} LIMIT 0").columns


def open_pyarrow(folder: Path, *, hive: bool) -> object:
    return ds.dataset(folder, partitioning=HIVE if hive else None, format="parquet").schema


def open_polars(folder: Path, *, hive: bool) -> object:
    import polars as pl

    options = {"hive_schema": _polars_keys()} if hive else {}
    return pl.scan_parquet(folder, hive_partitioning=hive, **options).head(1).collect()


def open_pandas(folder: Path, *, hive: bool) -> object:
    """pandas knows no opening: the narrowest column of all rows."""
    import pandas as pd

    options: dict[str, Any] = {"partitioning": HIVE} if hive else {}
    return pd.read_parquet(folder, columns=["group_id"], **options)


OPENINGS = {"DuckDB": open_duckdb, "pyarrow": open_pyarrow, "Polars": open_polars, "pandas": open_pandas}


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def mb(count: float) -> str:
    return f"{count / 1e6:,.1f}"


def compare_sizes(groups: Groups, ways: Sequence[Way], tables: Sequence[str], scratch: Path, rounds: int) -> str:
    """Size of each table written in each way, the seconds that writing took, and of reading all of it back."""
    rows = []
    for way in ways:
        cells, written, total, read = [], 0.0, 0, 0.0
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            root = Path(folder)
            for name in tables:
                written += rewrite(groups, TABLES[name], way, root)
                total += size(root / name)
                cells.append(mb(size(root / name)))
                action = partial(read_all, root / name)
                read += smallest({"read": action}, rounds)["read"]
        rows.append([way.name, *cells, mb(total), f"{written:.1f}", f"{read:.1f}"])
        print(f"  {way.name}: done", file=sys.stderr)
    return markdown(["", *(f"{name}, MB" for name in tables), "together, MB", "write, s", "read, s"], rows)


def read_all(folder: Path) -> int:
    """Every value of every row, bit by bit."""
    return sum(batch.num_rows for batch in ds.dataset(folder, format="parquet").to_batches())


def compare_scans(places: dict[str, tuple[Path, bool]], rounds: int) -> str:
    actions = {
        f"{place}|{reader}": partial(scan, folder / "sample_metrics", hive=hive)
        for place, (folder, hive) in places.items()
        for reader, scan in SCANS.items()
    }
    times = smallest(actions, rounds)
    rows = [[place, *(f"{1000 * times[f'{place}|{reader}']:,.0f}" for reader in SCANS)] for place in places]
    return markdown(["", *(f"{reader}, ms" for reader in SCANS)], rows)


def compare_openings(folder: Path, hive: bool, rounds: int) -> str:
    rows = []
    for table in (t for t in TABLES.values() if t.grouped and (folder / t.name).is_dir()):
        actions = {r: partial(opening, folder / table.name, hive=hive) for r, opening in OPENINGS.items()}
        times = smallest(actions, rounds)
        rows.append([table.name, *(f"{1000 * times[reader]:,.0f}" for reader in OPENINGS)])
    return markdown(["", *(f"{reader}, ms" for reader in OPENINGS)], rows)


def spark_times(parquet: Path) -> str:
    """What Spark takes for the same, in a process of its own."""
    code = f"""
import time
from pipelines.spark import read_table
from pipelines.spark.session import spark_session
started = time.perf_counter()
with spark_session("local[2]") as spark:
    print("start", round(time.perf_counter() - started, 1), sep=",")
    for name in {[t.name for t in TABLES.values() if t.grouped]!r}:
        started = time.perf_counter()
        read_table(spark, {str(parquet)!r}, name).schema
        print("open " + name, round(time.perf_counter() - started, 2), sep=",")
    for _ in range(2):
        started = time.perf_counter()
        rows = read_table(spark, {str(parquet)!r}, "sample_metrics").where("metric = {METRIC!r}")
        rows.groupBy("backbone", "baseline").avg("value").collect()
        print("scan of {METRIC}", round(time.perf_counter() - started, 2), sep=",")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return markdown(["Spark", "s"], [line.split(",") for line in done.stdout.split("\n") if line.count(",") == 1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.layout", description=__doc__.splitlines()[0])
    parser.add_argument("--warehouse", type=Path, default=Path("warehouse"))
    parser.add_argument("--rounds", type=int, default=3, help="how often each thing is timed")
    parser.add_argument("--backbone", help="compare ways of writing on this backbone's groups alone")
    parser.add_argument("--only", action="append", choices=[*WRITING, "reading"], help="not everything, but this")
    parser.add_argument("--spark", action="store_true", help="time Spark too")
    args = parser.parse_args()
    groups = Groups(Warehouse(args.warehouse).require_current().parquet)
    part = Groups(groups.parquet)
    if args.backbone:
        part.keys = [(key, path) for key, path in part.keys if key.backbone == args.backbone]
    json_bytes = _json_bytes(groups.parquet)
    today = size(groups.parquet)
    print(
        f"{len(groups.keys)} groups; JSON {mb(json_bytes)} MB, Parquet {mb(today)} MB, {today / json_bytes:.3f} of it\n"
    )
    with tempfile.TemporaryDirectory(prefix="memorybench-layout-") as folder:
        scratch = Path(folder)
        for title, ways in WRITING.items():
            if not args.only or title in args.only:
                print(f"## {title}\n\n{compare_sizes(part, ways, BULK, scratch, args.rounds)}\n", flush=True)
        if not args.only or "reading" in args.only:
            compare_reading(groups, scratch, args.rounds)
    if args.spark:
        print(spark_times(groups.parquet))


def compare_reading(groups: Groups, scratch: Path, rounds: int) -> None:
    """Print what reading a file for each group costs against reading one file."""
    places: dict[str, tuple[Path, bool]] = {"a file for each group": (groups.parquet, True)}
    for count in (10_000, 100_000):
        flat = scratch / f"flat-{count}"
        for table in TABLES.values():
            if table.grouped and table.name != "prompts":
                flatten(groups, table, flat, count)
        places[f"one file, row groups of {count:,} rows"] = (flat, False)
        print(f"  {count}: {mb(size(flat))} MB", file=sys.stderr)
    sizes = [
        [name, *(mb(size(place / name)) for place, _ in places.values())]
        for name in (t.name for t in TABLES.values() if t.grouped and t.name != "prompts")
    ]
    print(f"## Files\n\n{markdown(['MB', *places], sizes)}\n")
    print(f"## Scan of {METRIC} over all groups\n\n{compare_scans(places, rounds)}\n", flush=True)
    for place, (where, hive) in list(places.items())[::2]:
        print(f"## Opening a table, {place}\n\n{compare_openings(where, hive, rounds)}\n", flush=True)


def _json_bytes(parquet: Path) -> int:
    from pipelines.archive.json_reader import loads

    rows = result_group_rows(parquet).values()
    return sum(file["bytes"] or 0 for row in rows for file in loads(row["files"].encode()))


if __name__ == "__main__":
    main()
