"""published_history over a few hand-written refreshes, the view and macros over it, and `mbw diff`."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pipelines.refresh
from pipelines import cli
from pipelines.archive.groups import GroupKey
from pipelines.commands import diff
from pipelines.load.history import PUBLISHED_HISTORY, HistoryUpdate, carried_over, update_history
from pipelines.load.partitions import single_file, write_single
from pipelines.load.views import quoted
from schemas import TABLES
from schemas.model import LLM_JUDGE, METRICS
from tests.conftest import leave_out_checks
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, build, folder, group_id
from tests.warehouse_rows import WarehouseRows

NAN = math.nan
A = GroupKey(*A_MEM)
B = GroupKey(*MEM0)


class Refreshes:
    """Refreshes of a warehouse without an archive: each takes what is published now."""

    def __init__(self, folder: Path) -> None:
        self.warehouse = WarehouseRows()
        self.folder = folder
        self.number = 0

    def publish(self, numbers: dict[tuple[Any, ...], float | str | None]) -> list[tuple[Any, ...]]:
        """Publish numbers, each at (group, metric), (group, dataset group, metric) or either with the protocol behind.
        Gives the history: what each row is about, from where to where it holds, and the value."""
        connection = self.warehouse.connection
        connection.execute("DELETE FROM summary_metrics; DELETE FROM summary_datasets")
        datasets: dict[tuple[GroupKey, str], dict[str, Any]] = {}
        for (group, *place), value in numbers.items():
            protocol = place.pop() if place[-1] in (METRICS, LLM_JUDGE) else METRICS
            if len(place) == 2:
                datasets.setdefault((group, place[0]), {})[place[1]] = value
            else:
                text = value if isinstance(value, str) else None
                number = None if isinstance(value, str) else value
                self.warehouse.add("summary_metrics", group, protocol=protocol, metric=place[0], value=number, value_text=text)  # fmt: skip
        for (group, name), values in datasets.items():
            self.warehouse.add("summary_datasets", group, protocol=METRICS, dataset_group=name, **values)
        previous = self.folder if self.number else None
        self.number += 1
        revision = f"r{self.number}"
        table = update_history(connection, HistoryUpdate(previous, self.number, revision))
        assert table.schema.equals(PUBLISHED_HISTORY.arrow_schema())
        write_single(self.folder, PUBLISHED_HISTORY, table)
        connection.execute(
            "INSERT INTO refreshes SELECT ?, now(), now(), 'source', ?, 0, 0, 0, 0, '{}'", [self.number, revision]
        )
        return self.rows(table)

    def rows(self, table: pa.Table) -> list[tuple[Any, ...]]:
        found = []
        for row in table.to_pylist():
            assert row["revision"] == f"r{row['valid_from']}"
            assert row["end_revision"] == (None if row["valid_to"] is None else f"r{row['valid_to']}")
            place = [row["baseline"], row["dataset_group"], row["metric"]]
            value = row["value"] if row["value_text"] is None else row["value_text"]
            found.append((*(p for p in place if p), row["valid_from"], row["valid_to"], value))
        return found

    def with_views(self) -> WarehouseRows:
        """The warehouse with the history in it, to query."""
        names = ", ".join(map(quoted, PUBLISHED_HISTORY.column_names))
        source = single_file(self.folder, PUBLISHED_HISTORY.name)
        self.warehouse.connection.execute(f"INSERT INTO published_history SELECT {names} FROM '{source}'")
        self.warehouse.create_views()
        return self.warehouse


@pytest.fixture
def refreshes(tmp_path: Path) -> Refreshes:
    return Refreshes(tmp_path)


class TestHistory:
    def test_starts_with_everything_that_is_published(self, refreshes: Refreshes) -> None:
        assert refreshes.publish({
            (A, "z_score"): 1.0, (A, "metric"): "a text", (A, "n"): None,
            (A, "Locomo", "average"): 0.5, (A, "Locomo", "minmax_sum"): 2.0, (B, "z_score"): 3.0,
        }) == [
            ("a_mem", "metric", 1, None, "a text"),
            ("a_mem", "n", 1, None, None),
            ("a_mem", "z_score", 1, None, 1.0),
            ("a_mem", "Locomo", "average", 1, None, 0.5),
            ("a_mem", "Locomo", "minmax_sum", 1, None, 2.0),
            ("mem0", "z_score", 1, None, 3.0),
        ]  # fmt: skip

    def test_keeps_one_row_for_what_stays_nan_too(self, refreshes: Refreshes) -> None:
        published = {(A, "z_score"): NAN, (A, "metric"): "a text", (A, "n"): None, (A, "X", "z_average"): math.inf}
        first = refreshes.publish(published)
        assert repr(refreshes.publish(published)) == repr(first)

    def test_ends_a_row_and_starts_the_next_where_a_number_moves(self, refreshes: Refreshes) -> None:
        for value in (1.0, NAN, "1e400", None):
            history = refreshes.publish({(A, "z_score"): value})
        assert repr(history) == repr(
            [
                ("a_mem", "z_score", 1, 2, 1.0),
                ("a_mem", "z_score", 2, 3, NAN),
                ("a_mem", "z_score", 3, 4, "1e400"),
                ("a_mem", "z_score", 4, None, None),
            ]
        )

    def test_ends_what_is_gone_and_starts_anew_what_is_back(self, refreshes: Refreshes) -> None:
        both = {(A, "z_score"): 1.0, (A, "X", "average"): 2.0, (B, "z_score"): 3.0}
        refreshes.publish(both)
        refreshes.publish({(A, "z_score"): 1.0})
        refreshes.publish({(A, "z_score"): 1.0})
        assert refreshes.publish(both) == [
            ("a_mem", "z_score", 1, None, 1.0),
            ("a_mem", "X", "average", 1, 2, 2.0),
            ("a_mem", "X", "average", 4, None, 2.0),
            ("mem0", "z_score", 1, 2, 3.0),
            ("mem0", "z_score", 4, None, 3.0),
        ]

    def test_keeps_protocols_apart(self, refreshes: Refreshes) -> None:
        refreshes.publish({(A, "z_score", METRICS): 1.0, (A, "z_score", LLM_JUDGE): 1.0})
        history = refreshes.publish({(A, "z_score", METRICS): 1.0, (A, "z_score", LLM_JUDGE): 2.0})
        assert history == [
            ("a_mem", "z_score", 1, 2, 1.0),
            ("a_mem", "z_score", 2, None, 2.0),
            ("a_mem", "z_score", 1, None, 1.0),
        ]

    def test_has_no_two_rows_with_one_key(self, refreshes: Refreshes) -> None:
        for value in (1.0, 2.0, 1.0, 1.0):
            refreshes.publish({(A, "z_score"): value, (A, "X", "average"): value})
        keys = (
            pq.read_table(single_file(refreshes.folder, "published_history")).select(PUBLISHED_HISTORY.key).to_pylist()
        )
        assert len(keys) == 6
        assert len({tuple(key.values()) for key in keys}) == 6

    def test_of_another_version_is_carried_over_where_it_fits(self, refreshes: Refreshes) -> None:
        refreshes.publish({(A, "z_score"): 1.0})
        path = single_file(refreshes.folder, "published_history")
        rows = pq.read_table(path)
        pq.write_table(rows.drop_columns(["value_text"]).append_column("gone", pa.array([1])), path)
        assert carried_over(refreshes.folder, PUBLISHED_HISTORY).to_pylist() == rows.to_pylist()
        pq.write_table(rows.drop_columns(["group_id"]), path)
        assert carried_over(refreshes.folder, PUBLISHED_HISTORY).num_rows == 0
        path.write_bytes(b"something else")
        assert carried_over(refreshes.folder, PUBLISHED_HISTORY).num_rows == 0
        path.unlink()
        assert refreshes.publish({(A, "z_score"): 1.0}) == [("a_mem", "z_score", 2, None, 1.0)]


class TestQuestions:
    @pytest.fixture
    def warehouse(self, refreshes: Refreshes) -> WarehouseRows:
        """Number by number: changed in r2 and back in r4; gone in r2; new in r3; a text; of another protocol."""
        always = {(A, "weighted_average"): 0.25, (A, "z_score", LLM_JUDGE): 7.0}
        refreshes.publish({**always, (A, "z_score"): 1.0, (A, "X", "average"): 5.0, (A, "metric"): "one"})
        refreshes.publish({**always, (A, "z_score"): 1.5, (A, "metric"): "two"})
        refreshes.publish({**always, (A, "z_score"): 1.5, (A, "metric"): "two", (B, "z_score"): -1.0})
        refreshes.publish({**always, (A, "z_score"): 1.0, (A, "metric"): "two", (B, "z_score"): -1.0})
        return refreshes.with_views()

    def test_revision_changes(self, warehouse: WarehouseRows) -> None:
        columns = ("baseline", "protocol", "dataset_group", "metric", "change", "old_value", "new_value", "difference",
                   "old_text", "new_text", "old_revision", "new_revision", "old_refresh_id", "new_refresh_id")  # fmt: skip
        order = "new_refresh_id, baseline, dataset_group NULLS FIRST, metric"
        assert warehouse.rows("revision_changes", *columns, order=order) == [
            ("a_mem", METRICS, None, "metric", "changed", None, None, None, "one", "two", "r1", "r2", 1, 2),
            ("a_mem", METRICS, None, "z_score", "changed", 1.0, 1.5, 0.5, None, None, "r1", "r2", 1, 2),
            ("a_mem", METRICS, "X", "average", "removed", 5.0, None, None, None, None, "r1", "r2", 1, 2),
            ("mem0", METRICS, None, "z_score", "added", None, -1.0, None, None, None, "r2", "r3", 2, 3),
            ("a_mem", METRICS, None, "z_score", "changed", 1.5, 1.0, -0.5, None, None, "r3", "r4", 3, 4),
        ]
        keys = warehouse.rows("revision_changes", *A._fields, "group_id", change="removed")
        assert keys == [(*A, A.group_id)]

    @pytest.mark.parametrize(
        ("revision", "expected"),
        [
            ("r1", [("a_mem", LLM_JUDGE, None, None, 7.0), ("a_mem", METRICS, None, 0.25, 1.0)]),
            ("r2", [("a_mem", LLM_JUDGE, None, None, 7.0), ("a_mem", METRICS, None, 0.25, 1.5)]),
            (
                "r4",
                [
                    ("a_mem", LLM_JUDGE, None, None, 7.0),
                    ("a_mem", METRICS, None, 0.25, 1.0),
                    ("mem0", METRICS, None, None, -1.0),
                ],
            ),
        ],
    )
    def test_results_as_of(self, warehouse: WarehouseRows, revision: str, expected: list[Any]) -> None:
        columns = "baseline, protocol, average, weighted_average, z_score"
        sql = f"SELECT {columns} FROM results_as_of(?) ORDER BY ALL"
        assert warehouse.connection.execute(sql, [revision]).fetchall() == expected

    def test_summary_table_as_of(self, warehouse: WarehouseRows) -> None:
        sql = "SELECT protocol, baseline, value, value_text, refresh_id, revision FROM summary_table_as_of(?, ?) ORDER BY ALL"
        execute = warehouse.connection.execute
        assert execute(sql, ["z_score", "r3"]).fetchall() == [
            (LLM_JUDGE, "a_mem", 7.0, None, 3, "r3"),
            (METRICS, "a_mem", 1.5, None, 3, "r3"),
            (METRICS, "mem0", -1.0, None, 3, "r3"),
        ]
        assert execute(sql, ["metric", "r1"]).fetchall() == [(METRICS, "a_mem", None, "one", 1, "r1")]
        assert execute(sql, ["no such metric", "r1"]).fetchall() == []

    def test_summary_table_as_of_can_be_pivoted_as_its_comment_says(self, warehouse: WarehouseRows) -> None:
        execute = warehouse.connection.execute
        comment = execute(
            "SELECT comment FROM duckdb_functions() WHERE function_name = 'summary_table_as_of'"
        ).fetchone()
        assert comment is not None
        pivot = re.search(r"PIVOT .* USING FIRST\(value\)", comment[0])
        assert pivot is not None
        rows = execute(f"SELECT * FROM ({pivot[0].replace('1f0c2ab', 'r3')}) ORDER BY ALL").fetchall()
        assert rows == [
            ("Qwen3-8B", "domain", "Open-Domain", LLM_JUDGE, 7.0, None),
            ("Qwen3-8B", "domain", "Open-Domain", METRICS, 1.5, None),
            ("Qwen3-8B", "task", "Long-Short", METRICS, None, -1.0),
        ]

    @pytest.mark.parametrize(
        ("revision", "message"),
        [("r9", "no refresh of this warehouse read revision r9"), ("r", "several revisions begin with r;")],
    )
    @pytest.mark.parametrize("macro", ["results_as_of({})", "summary_table_as_of('z_score', {})"])
    def test_of_an_unknown_revision_are_refused(
        self, warehouse: WarehouseRows, macro: str, revision: str, message: str
    ) -> None:
        with pytest.raises(duckdb.Error, match=message):
            warehouse.connection.execute(f"FROM {macro.format(repr(revision))}").fetchall()

    def test_of_a_revision_that_was_read_twice_mean_the_last_refresh(self, warehouse: WarehouseRows) -> None:
        warehouse.connection.execute("UPDATE refreshes SET revision = 'r1' WHERE refresh_id = 3")
        sql = "SELECT DISTINCT refresh_id FROM results_as_of('r1')"
        assert warehouse.connection.execute(sql).fetchall() == [(3,)]


# Warehouses -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    """Two warehouses, `old` at the first of three revisions and `new` at the last, with the revisions."""
    root = tmp_path_factory.mktemp("diff")
    archive = HandmadeArchive(root / "archive")
    for keys in (A_MEM, WO_MEMORY):
        archive.add(keys)
    summary = archive.root / folder(A_MEM) / "summary.json"
    published = json.loads(summary.read_bytes())
    with pytest.MonkeyPatch.context() as monkeypatch:
        leave_out_checks(monkeypatch)
        revisions = [build(archive.root, root / "new").revision]
        shutil.copytree(root / "new", root / "old", symlinks=True)
        archive.write(summary, {**published, "summary": {**published["summary"], "z_score": 0.5, "note": "new"}})
        revisions.append(build(archive.root, root / "new").revision)
        archive.write(summary, b"{")  # the last good version stays, with its numbers
        archive.add(MEM0)
        revisions.append(build(archive.root, root / "new").revision)
    yield root, revisions


class TestWarehouse:
    def test_keeps_the_numbers_of_a_stale_group(self, built: tuple[Path, list[str]]) -> None:
        root, _ = built
        with duckdb.connect(str(root / "new" / "memorybench.duckdb"), read_only=True) as connection:
            status = connection.execute("SELECT status FROM result_groups WHERE baseline = 'a_mem'").fetchone()
            rows = connection.execute(
                "SELECT valid_from, valid_to, value FROM published_history WHERE baseline = 'a_mem' "
                "AND metric = 'z_score' ORDER BY 1"
            ).fetchall()
        assert status == ("stale",)
        assert [row[:2] for row in rows] == [(1, 2), (2, None)]
        assert rows[1][2] == 0.5

    def test_of_another_version_goes_on_with_its_history(
        self, built: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root, revisions = built
        shutil.copytree(root / "old", tmp_path / "warehouse", symlinks=True)
        monkeypatch.setattr(pipelines.refresh, "FORMAT", pipelines.refresh.FORMAT + 1)
        leave_out_checks(monkeypatch)
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(A_MEM)
        assert build(archive.root, tmp_path / "warehouse").published is not None
        with duckdb.connect(str(tmp_path / "warehouse" / "memorybench.duckdb"), read_only=True) as connection:
            execute = connection.execute
            assert [row[0] for row in execute("SELECT revision FROM refreshes").fetchall()][:1] == revisions[:1]
            held = execute(
                "SELECT DISTINCT baseline, valid_from, valid_to FROM published_history ORDER BY 1"
            ).fetchall()
            assert held == [("a_mem", 1, None), ("wo_memory", 1, 2)]
            assert execute("SELECT count(*) FROM results_as_of(?)", revisions[:1]).fetchall() == [(2,)]

    def test_has_every_column_of_the_declaration(self, built: tuple[Path, list[str]]) -> None:
        rows = pq.read_table(single_file(built[0] / "new" / "parquet", "published_history"))
        assert rows.schema.names == TABLES["published_history"].column_names


class TestDiff:
    def diff(self, capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> tuple[str, str]:
        assert cli.main(["diff", *arguments]) == status
        told = capsys.readouterr()
        return told.out, told.err

    def test_shows_people_what_moved(
        self, built: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root, revisions = built
        monkeypatch.setenv("MBW_WAREHOUSE", str(root / "new"))
        out, err = self.diff(capsys, revisions[0][:14], revisions[1])
        lines = [line.split() for line in out.splitlines()[3:]]
        place = ["Qwen3-8B", "domain", "Open-Domain", "a_mem", "-"]
        assert [line[:7] for line in lines] == [["changed", *place, "z_score"], ["added", *place, "note"]]
        assert lines[0][8] == "0.500000"
        assert lines[1][7:] == ["-", "new", "-"]
        first, *summary = err.splitlines()
        assert first == (
            f"1 changed, 1 added, from {revisions[0]} (refresh 1 of {root / 'new'}) "
            f"to {revisions[1]} (refresh 2 of {root / 'new'})"
        )
        assert summary[1].split("  ")[-2:] == ["largest difference", "there"]
        metrics = {line.split()[0]: line.split()[1:] for line in summary[3:-1]}
        assert metrics["note"] == ["group", "0", "1", "0", "-", "-"]
        assert metrics["z_score"][:4] == ["group", "1", "0", "0"]
        assert metrics["z_score"][4] == lines[0][9]
        assert metrics["z_score"][5] == "/".join(A_MEM)

    def test_shows_a_terminal_the_largest_differences_first(
        self, built: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root, _ = built
        arguments = (str(root / "new"), str(root / "old"))

        def shown(*options: str) -> tuple[list[list[str]], str]:
            out, err = self.diff(capsys, *arguments, *options)
            first_part = out.split("\n\n")[0].splitlines()
            (rule,) = (number for number, line in enumerate(first_part) if line.startswith("--"))
            return [line.split() for line in first_part[rule + 1 :]], err

        whole, err = shown()
        assert len(whole) > 3 and "are shown" not in err
        # Columns 5 and 6: dataset_group, which groups have none of, and metric.
        first = {(line[5] != "-", line[6]): line for line in reversed(whole)}
        one_each = [first[key] for key in sorted(first)]
        assert 3 < len(one_each) < len(whole)
        told = f"{err}{len(one_each)} of {len(whole)} are shown, the largest differences of each metric; all: --all\n"
        assert shown("--limit", "1") == (one_each, told)
        monkeypatch.setattr(diff, "_LIMIT", 1)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", "200")
        assert shown()[0] == one_each
        assert shown("--all")[0] == shown("--limit", "0")[0] == whole
        csv_lines = self.diff(capsys, *arguments, "--format", "csv")[0].splitlines()
        assert len(csv_lines) == len(whole) + 1
        self.diff(capsys, *arguments, "--limit", "1", "--format", "csv", status=2)

    def test_largest_are_those_that_moved_furthest(self) -> None:
        def row(metric: str, difference: float | None, dataset: str | None = None) -> tuple[Any, ...]:
            return ("changed", *A_MEM, "metrics", dataset, metric, None, None, difference)

        moved = (9.0, math.nan, -30.0, None, 20.0)
        rows = [*(row("average", x, "JuDGE") for x in moved), *(row("z_score", x) for x in moved), row("average", 0.1)]
        assert [(row[7], row[8], row[-1]) for row in diff._largest(rows, 3)] == [
            (None, "average", 0.1),  # not crowded out by what is measured in larger units
            *((None, "z_score", x) for x in (-30.0, 20.0, 9.0)),
            *(("JuDGE", "average", x) for x in (-30.0, 20.0, 9.0)),
        ]
        assert diff._largest(rows, 0) == rows

    def test_warns_where_the_sources_differ(
        self, built: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], unchecked: None
    ) -> None:
        root, _ = built
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(A_MEM)
        build(archive.root, tmp_path / "warehouse")
        _, err = self.diff(capsys, str(root / "old"), str(tmp_path / "warehouse"), "--format", "csv")
        assert err.startswith(f"warning: these are of two sources, {root / 'archive'} and {archive.root}: ")
        hub = [diff.Side(None, 1, "r", f"hf://datasets/o/n{at}") for at in ("", "@v1")]  # type: ignore[arg-type]
        assert hub[0].archive == hub[1].archive

    def test_compares_two_warehouses_exactly(
        self, built: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
    ) -> None:
        root, revisions = built
        out, err = self.diff(capsys, str(root / "new"), str(root / "old"), "--format", "csv")
        assert err == ""
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["change"] for row in rows] == ["changed"] + ["removed"] * (len(rows) - 1)
        assert {row["baseline"] for row in rows[1:] if row["metric"] != "note"} == {"mem0"}
        with duckdb.connect(str(root / "old" / "memorybench.duckdb"), read_only=True) as connection:
            first = connection.execute("SELECT z_score FROM results WHERE group_id = ?", [group_id(A_MEM)]).fetchone()
        assert first is not None
        assert (float(rows[0]["old"]), float(rows[0]["new"])) == (0.5, first[0])
        assert float(rows[0]["difference"]) == first[0] - 0.5
        # A revision of one against the other.
        mixed = self.diff(capsys, revisions[2], str(root / "old"), "--warehouse", str(root / "new"), "--format", "csv")
        assert mixed[0] == out

    @pytest.mark.parametrize(("ending", "start"), [("json", "[\n {"), ("md", "| change |"), ("csv", "change,")])
    def test_writes_a_file(
        self, built: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str, start: str
    ) -> None:
        root, _ = built
        path = tmp_path / f"diff.{ending}"
        assert self.diff(capsys, str(root / "old"), str(root / "new"), "--output", str(path))[0] == ""
        assert path.read_text().startswith(start)

    @pytest.mark.parametrize("style", ["markdown", "latex"])
    def test_a_document_says_where_both_sides_are_from(
        self, built: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str], style: str
    ) -> None:
        root, revisions = built
        source = root / "archive"
        for old, new, limit in ((0, 1, "0"), (0, 1, "1"), (1, 1, "0")):
            arguments = (revisions[old], revisions[new], "--warehouse", str(root / "new"), "--limit", limit)
            out, _ = self.diff(capsys, *arguments, "--format", style)
            told = f"old: source: {source}, revision {revisions[old]}; new: source: {source}, revision {revisions[new]}"
            assert told in out.replace("\\", "")
            assert ("\\caption{Published numbers that moved.}" in out) == (style == "latex")

    def test_says_so_when_nothing_moved(
        self, built: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
    ) -> None:
        root, revisions = built
        out, err = self.diff(capsys, revisions[0], revisions[0], "--warehouse", str(root / "new"))
        assert "(no rows)" in out
        assert err.startswith("no published number moved, from ")
        assert self.diff(capsys, str(root / "new"), str(root / "new"), "--format", "json") == ("[\n]\n", "")

    @pytest.mark.parametrize(
        ("old", "status", "message"),
        [
            ("content-", 2, "Several revisions begin with 'content-': content-"),
            ("0123abc", 2, "'0123abc' is no revision that {root}/new has read, and no warehouse. It has read content-"),
            ("", 2, "'' is no revision"),
            ("./elsewhere", 1, "There is no warehouse at "),
        ],
    )
    def test_refuses_what_is_no_revision_and_no_warehouse(
        self,
        built: tuple[Path, list[str]],
        capsys: pytest.CaptureFixture[str],
        old: str,
        status: int,
        message: str,
    ) -> None:
        root, revisions = built
        out, err = self.diff(capsys, old, revisions[0], "--warehouse", str(root / "new"), status=status)
        assert out == ""
        assert message.format(root=root) in err
