"""Measures published_history: how large it gets over many refreshes, and what keeping and asking it costs.

    python -m benchmarks.history [--refreshes 50] [--groups 250]

Two courses of events: refreshes that each correct two groups in a hundred and add one, and refreshes that move every
number there is. The numbers are random, which compresses worst. Prints a Markdown table, as in docs/history.md.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import duckdb
import pyarrow as pa

from pipelines.archive.groups import GroupKey
from pipelines.load.database import STORAGE_VERSION, create_table, fill_table
from pipelines.load.history import PUBLISHED_HISTORY, HistoryUpdate, write_history
from pipelines.load.partitions import single_file
from pipelines.load.views import create_views, quoted
from schemas import TABLES
from schemas.model import METRICS
from schemas.reference.normalization import normalization

_METRICS = ("average", "weighted_average", "z_score")
_NUMBERS = tuple(column.name for column in TABLES["summary_datasets"] if column.kind == "number")


def all_groups() -> Iterator[tuple[GroupKey, list[str]]]:
    """Ever more groups of the published shape, each with its dataset groups."""
    members: dict[tuple[str, str], list[str]] = {}
    for row in normalization():
        members.setdefault((row.split, row.collection), []).append(row.dataset_group)
    for number in range(10_000):
        for baseline, (place, names) in product(range(8), members.items()):
            yield GroupKey("off-policy", f"backbone-{number}", *place, f"baseline_{baseline}"), names


class Publisher:
    """Publishes random numbers of some groups, and keeps the history of them."""

    def __init__(self, folder: Path, groups: int) -> None:
        self.folder = folder
        self.choice = random.Random(1)
        self.source = all_groups()
        self.groups = dict(islice(self.source, groups))
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 2")
        for name in ("summary_metrics", "summary_datasets"):
            create_table(self.connection, TABLES[name])
        self.write(list(self.groups))
        self.refresh_id = 0

    def add(self) -> None:
        key, names = next(self.source)
        self.groups[key] = names
        self.write([key])

    def write(self, keys: list[GroupKey]) -> None:
        """New numbers for these groups."""
        number = self.choice.random
        metrics = [
            {**key._asdict(), "group_id": key.group_id, "protocol": METRICS, "metric": metric, "position": position,
             "value": number(), "value_text": None, "kind": "float", "source_file": "summary.json"}
            for key in keys for position, metric in enumerate(_METRICS)
        ]  # fmt: skip
        datasets = [
            {**key._asdict(), "group_id": key.group_id, "protocol": METRICS, "dataset_group": name,
             "position": position, **{column: number() for column in _NUMBERS}, "source_file": "summary.json"}
            for key in keys for position, name in enumerate(self.groups[key])
        ]  # fmt: skip
        ids = [key.group_id for key in keys]
        for name, rows in (("summary_metrics", metrics), ("summary_datasets", datasets)):
            self.connection.execute(f"DELETE FROM {name} WHERE group_id IN (SELECT unnest(?))", [ids])
            self.connection.register("rows", pa.Table.from_pylist(rows))
            columns = ", ".join(quoted(column.name) for column in TABLES[name].database_columns)
            self.connection.execute(f"INSERT INTO {name} SELECT {columns} FROM rows")
            self.connection.unregister("rows")

    def refresh(self) -> float:
        """Seconds that the history takes."""
        started = perf_counter()
        previous = self.folder if self.refresh_id else None
        self.refresh_id += 1
        write_history(self.connection, self.folder, HistoryUpdate(previous, self.refresh_id, f"{self.refresh_id:040x}"))
        return perf_counter() - started


def two_in_a_hundred(publisher: Publisher) -> None:
    keys = list(publisher.groups)
    publisher.write(publisher.choice.sample(keys, round(len(keys) / 50)))
    publisher.add()


def everything(publisher: Publisher) -> None:
    publisher.write(list(publisher.groups))


def measure(change: Callable[[Publisher], None], refreshes: int, groups: int) -> list[str]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        publisher = Publisher(folder, groups)
        publisher.refresh()
        for _ in range(refreshes - 1):
            change(publisher)
            last = publisher.refresh()
        database = folder / "history.duckdb"
        connection = duckdb.connect()
        connection.execute(f"ATTACH '{database}' AS made (STORAGE_VERSION '{STORAGE_VERSION}')")
        connection.execute("USE made")
        create_table(connection, PUBLISHED_HISTORY)
        started = perf_counter()
        fill_table(connection, PUBLISHED_HISTORY, folder)
        connection.execute("CHECKPOINT")
        filled = perf_counter() - started
        size = database.stat().st_size
        for table in TABLES.values():
            if table.in_database and table is not PUBLISHED_HISTORY:
                create_table(connection, table)
        connection.execute(
            "INSERT INTO refreshes "
            "SELECT i, now(), now(), '', printf('%040x', i), 0, 0, 0, 0, '{}' FROM range(1, ?) r(i)",
            [refreshes + 1],
        )
        create_views(connection)
        seconds = []
        for query in ("FROM revision_changes", f"FROM results_as_of('{refreshes // 2:040x}')"):
            connection.sql(query).to_arrow_table()
            started = perf_counter()
            connection.sql(query).to_arrow_table()
            seconds.append(perf_counter() - started)
        rows = connection.execute("SELECT count(*) FROM published_history").fetchone()
        assert rows is not None
        parquet = single_file(folder, PUBLISHED_HISTORY.name).stat().st_size
    times = (last + filled, *seconds)
    return [f"{rows[0]:,}", f"{parquet / 1e6:.1f} MB", f"{size / 1e6:.1f} MB", *(f"{1000 * t:.0f} ms" for t in times)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description="Measures published_history.")
    parser.add_argument("--refreshes", type=int, default=50)
    parser.add_argument("--groups", type=int, default=250)
    args = parser.parse_args()
    head = ("each refresh", "rows", "Parquet", "DuckDB", "the last update", "revision_changes", "results_as_of")
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    courses = {"moves nothing": lambda _: None, "corrects 2 %, adds a group": two_in_a_hundred, "moves all": everything}
    for name, change in courses.items():
        print(f"| {' | '.join((name, *measure(change, args.refreshes, args.groups)))} |")


if __name__ == "__main__":
    main()
