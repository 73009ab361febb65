"""The command line: exit statuses, formats, messages; a few runs as processes, the rest in this one."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from pipelines import cli
from pipelines.cli import main
from pipelines.commands import build as build_command
from pipelines.commands.progress import progress_for_terminal
from pipelines.refresh import Progress, RefreshRun
from schemas.reference import BASELINES
from tests.handmade import (
    A_MEM,
    MEM0,
    WO_MEMORY,
    HandmadeArchive,
    as_sample,
    build,
    folder,
    group_files,
    prediction,
)

ROOT = Path(cli.__file__).resolve().parent.parent
FAILED = "Error: Unable to generate response."


def archive_in(root: Path) -> HandmadeArchive:
    """Two backbones, two collections, an invalid group, one without a summary."""
    made = HandmadeArchive(root)
    made.add(A_MEM)
    failed = [prediction(*sample, FAILED) for sample in (("NFCats", 3), ("Locomo-0", 1), ("Locomo-1", 0))]
    made.add(WO_MEMORY, group_files(predict=failed, summary={"summary": {"weighted_average": 1 / 3, "n": 2**60}}))
    made.add(MEM0, group_files(summary=None))
    made.add(("off-policy", "Qwen3-32B", "domain", "Legal", "a_mem"))
    return made


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cli")
    build(archive_in(root / "archive").root, root / "warehouse")
    return root / "warehouse"


class Mbw:
    """Runs commands on one warehouse and keeps what they wrote."""

    def __init__(self, warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.warehouse = warehouse
        self._capsys = capsys
        self.err = ""

    def __call__(self, *argv: str, status: int = 0) -> str:
        found = main([*argv, "--warehouse", str(self.warehouse)])
        out, self.err = self._capsys.readouterr()
        assert found == status, self.err
        return out


@pytest.fixture
def mbw(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> Mbw:
    return Mbw(warehouse, capsys)


class TestQuery:
    QUERY = "SELECT baseline, n_predictions, validity FROM result_groups WHERE split = 'domain' ORDER BY ALL"

    def test_table(self, mbw: Mbw) -> None:
        assert mbw("query", self.QUERY) == (
            "baseline   n_predictions  validity\n"
            "---------  -------------  --------\n"
            "a_mem                  3  valid\n"
            "a_mem                  3  valid\n"
            "wo_memory              3  invalid\n"
        )

    def test_what_is_too_wide_for_the_terminal_goes_on_below_and_says_so(
        self, mbw: Mbw, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", "50")
        out = mbw("query", "SELECT * FROM result_groups ORDER BY ALL")
        parts = re.sub("\x1b\\[[01]m", "", out).split("\n\n")
        assert len(parts) > 5
        titles = [part.split("\n", 1)[0].split() for part in parts[1:]]
        assert all("baseline" in names for names in titles if len(names) > 1)
        for part in parts:
            assert max(map(len, part.splitlines())) <= 50 or len(part.split("\n", 1)[0].split()) == 1
        assert sum("first_revision" in part.split() for part in parts) == 1
        assert "the table is wider than the terminal: its other columns stand below\n" in mbw.err
        assert "texts that end in … are cut at 60 characters" in mbw.err
        mbw("query", "SELECT baseline FROM result_groups")
        assert mbw.err == ""

    def test_csv(self, mbw: Mbw) -> None:
        rows = list(csv.reader(io.StringIO(mbw("query", self.QUERY, "--format", "csv"))))
        assert rows[0] == ["baseline", "n_predictions", "validity"]
        assert rows[3] == ["wo_memory", "3", "invalid"]

    def test_json(self, mbw: Mbw) -> None:
        out = mbw("query", "SELECT 1 AS a, 'nan'::DOUBLE AS a, NULL AS c, [1, 2] AS d", "--format", "json")
        assert json.loads(out) == [{"a": 1, "a_1": "NaN", "c": None, "d": [1, 2]}]

    @pytest.mark.parametrize(
        ("name", "start"),
        [("o.md", "| baseline |"), ("o.tex", "% \\usepackage{booktabs}\n\\begin{tabular}"), ("o", "base")],
    )
    def test_the_files_ending_chooses(self, mbw: Mbw, tmp_path: Path, name: str, start: str) -> None:
        assert mbw("query", self.QUERY, "--output", str(tmp_path / name)) == ""
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)

    def test_parquet(self, mbw: Mbw, tmp_path: Path) -> None:
        mbw("query", "SELECT messages, 1 AS a, 2 AS a FROM prompts", "--output", str(tmp_path / "o.parquet"))
        table = pq.read_table(tmp_path / "o.parquet")
        assert (table.num_rows, table.column_names) == (12, ["messages", "a", "a_1"])

    def test_parquet_needs_a_file(self, mbw: Mbw) -> None:
        mbw("query", "SELECT 1", "--format", "parquet", status=2)
        assert mbw.err == "mbw: --format parquet needs --output FILE.\n"

    def test_empty_results_keep_their_headers(self, mbw: Mbw) -> None:
        empty = "SELECT baseline FROM result_groups WHERE false"
        assert mbw("query", empty) == "baseline\n--------\n(no rows)\n"
        assert mbw("query", empty, "--format", "csv") == "baseline\n"
        assert json.loads(mbw("query", empty, "--format", "json")) == []

    def test_standard_input(self, mbw: Mbw, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 1 AS one"))
        assert mbw("query", "-", "--format", "csv") == "one\n1\n"

    def test_prompts(self, mbw: Mbw) -> None:
        query = "SELECT count(*) AS n, max(messages[1].content) AS m FROM {} WHERE baseline = 'mem0'"
        expected = "n,m\n3,Question 3 of NFCats?\n"
        assert mbw("query", query.format("prompts"), "--format", "csv") == expected
        assert mbw("query", query.format(f"prompts('{mbw.warehouse}/parquet')"), "--format", "csv") == expected
        mbw("query", query.format("prompts('/elsewhere/parquet')"), status=2)
        assert "this command reads its own warehouse only; write: FROM prompts" in mbw.err

    @pytest.mark.parametrize(
        ("sql", "message"),
        [
            ("SELECT 1; SELECT 2", "One query at a time: found 2 statements."),
            ("-- nothing", "One query at a time: found no statement."),
            ("DROP TABLE findings", "Only queries can be run"),
            ("CREATE TABLE x AS PIVOT result_groups ON split", "Only queries can be run"),
            ("SET threads = 1", "Only queries can be run"),
            ("SELEC 1", "syntax error"),
            ("SELECT nothing FROM results", '"nothing" not found'),
            ("FROM no_such_table", "no_such_table does not exist"),
        ],
    )
    def test_what_is_no_query(self, mbw: Mbw, sql: str, message: str) -> None:
        mbw("query", sql, status=2)
        assert message in mbw.err

    @pytest.mark.parametrize(
        "sql",
        [
            "COPY (SELECT 1) TO '{target}'",
            "WITH x AS (COPY (SELECT 1) TO '{target}') FROM x",
            "EXPLAIN ANALYZE COPY (SELECT 1) TO '{target}'",
            "WITH x AS (COPY (SELECT 1) TO '{parquet}/evil.csv') FROM x",
            "WITH x AS (COPY (SELECT 1) TO '{database}') FROM x",
            "WITH x AS (INSERT INTO findings BY NAME SELECT 1 AS test_idx RETURNING test_idx) FROM x",
            "COPY (PIVOT result_groups ON split) TO '{target}'",
            "EXPORT DATABASE '{target}'",
            "ATTACH '{target}'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "FROM read_text('{secret}')",
            "FROM read_text('{parquet}/../snapshot.json')",
            "FROM read_csv('/dev/stdin')",
            "FROM '{secret}'",
            "FROM glob('/*')",
            "FROM read_parquet('https://example.org/x.parquet')",
        ],
    )
    def test_nothing_outside_is_read_and_nothing_is_written(self, mbw: Mbw, tmp_path: Path, sql: str) -> None:
        (tmp_path / "secret").write_text("secret")
        before = {path: path.lstat().st_mtime_ns for path in mbw.warehouse.rglob("*")}
        places = {
            "target": tmp_path / "target",
            "secret": tmp_path / "secret",
            "parquet": (mbw.warehouse / "parquet").resolve(),
            "database": (mbw.warehouse / "memorybench.duckdb").resolve(),
        }
        assert mbw("query", sql.format(**places), status=2) == ""
        assert [path.name for path in tmp_path.iterdir()] == ["secret"]
        assert {path: path.lstat().st_mtime_ns for path in mbw.warehouse.rglob("*")} == before

    def test_variables_of_the_program_are_no_tables(self, mbw: Mbw) -> None:
        mbw("query", "FROM parameters", status=2)

    @pytest.mark.parametrize("sql", ["PIVOT result_groups ON split USING count(*)", "DESCRIBE results", "SHOW TABLES"])
    def test_other_kinds_of_queries(self, mbw: Mbw, sql: str) -> None:
        assert mbw("query", sql).count("\n") > 2

    def test_an_error_while_it_runs(self, mbw: Mbw, tmp_path: Path) -> None:
        mbw("query", "SELECT 'x'::INTEGER FROM result_groups", "--output", str(tmp_path / "o.csv"), status=1)
        assert "Could not convert string 'x'" in mbw.err
        assert not (tmp_path / "o.csv").exists()

    @pytest.mark.parametrize("name", ["o.csv", "o.json", "o.txt", "o.parquet"])
    def test_an_error_behind_the_first_rows_leaves_the_file_alone(self, mbw: Mbw, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text("of before")
        late = "SELECT (CASE WHEN i = 199999 THEN 'late' ELSE '1' END)::INTEGER FROM range(200000) t(i)"
        mbw("query", late, "--output", str(tmp_path / name), status=1)
        assert "late" in mbw.err
        assert (tmp_path / name).read_text() == "of before"
        assert [path.name for path in tmp_path.iterdir()] == [name]

    def test_the_file_is_replaced_where_a_link_leads_and_keeps_its_mode(self, mbw: Mbw, tmp_path: Path) -> None:
        (tmp_path / "there").write_text("of before")
        (tmp_path / "there").chmod(0o640)
        (tmp_path / "o.csv").symlink_to("there")
        mbw("query", "SELECT 1 AS a", "--output", str(tmp_path / "o.csv"))
        assert (tmp_path / "o.csv").is_symlink()
        assert (tmp_path / "there").read_text() == "a\n1\n"
        assert (tmp_path / "there").stat().st_mode & 0o777 == 0o640

    def test_devices_and_pipes_are_written_through(self, mbw: Mbw, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with ThreadPoolExecutor(1) as pool:
            read = pool.submit((tmp_path / "pipe").read_text)
            mbw("query", "SELECT 1 AS a", "--format", "csv", "--output", str(tmp_path / "pipe"))
            assert read.result(60) == "a\n1\n"
        mbw("query", "SELECT 1 AS a", "--output", os.devnull)
        assert not stat.S_ISREG(os.stat(os.devnull).st_mode)

    @pytest.mark.parametrize("command", [["query", "SELECT 1"], ["table", "results"], ["diff", "{w}", "{w}"]])
    @pytest.mark.parametrize(
        "place", ["memorybench.duckdb", "parquet/o.csv", "o.csv", "snapshots/000001/snapshot.json", "../link", "../l/o"]
    )
    def test_no_result_is_written_into_a_warehouse(
        self, mbw: Mbw, tmp_path: Path, command: list[str], place: str
    ) -> None:
        shutil.copytree(mbw.warehouse, tmp_path / "w", symlinks=True)
        (tmp_path / "link").symlink_to("w/memorybench.duckdb")
        (tmp_path / "l").symlink_to("w")
        before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
        argv = [part.format(w=mbw.warehouse) for part in command]  # also of a warehouse that is not asked
        assert mbw(*argv, "--output", str(tmp_path / "w" / place), status=2) == ""
        assert "lies inside of a warehouse" in mbw.err
        assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before

    def test_a_query_that_is_not_unicode(self, mbw: Mbw, monkeypatch: pytest.MonkeyPatch) -> None:
        mbw("query", "SELECT '\udce9' AS x", status=2)
        assert mbw.err == "mbw: The query is not valid UTF-8.\n"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT '\xe9' AS x"), encoding="utf-8"))
        mbw("query", "-", status=2)
        assert mbw.err == "mbw: The query is not valid UTF-8.\n"

    def test_a_file_that_cannot_be_written(self, mbw: Mbw, tmp_path: Path) -> None:
        mbw("query", "SELECT 1", "--output", str(tmp_path / "no" / "o.csv"), status=1)
        assert "o.csv cannot be written: No such file or directory." in mbw.err


GAP = (
    "-: no number is published: the system was not run there, is not published or has no summary with the number, see "
    "the view coverage\n"
)


class TestTable:
    def test_the_summary_table_marks_what_is_invalid(self, mbw: Mbw) -> None:
        assert mbw("table", "weighted_average") == (
            "Qwen3-32B\n"
            "split   collection    a_mem\n"
            "------  -----------  ------\n"
            "domain  Legal        0.7500\n"
            "\n"
            "Qwen3-8B\n"
            "split   collection    a_mem  wo_memory\n"
            "------  -----------  ------  ---------\n"
            "domain  Open-Domain  0.7500    0.3333!\n"
            "task    Long-Short        -         -\n"
        )
        assert mbw.err == (
            "! the group is invalid: see validity_reasons in result_groups\n"
            f"{GAP}left out, as empty in every row: mem0\n"
        )
        full = ("weighted_average", "--collection", "Open-Domain", "--baseline", "a_mem", "--baseline", "wo_memory")
        for style in ("table", "markdown", "latex"):
            told = "no number is published: the system was not run there"
            assert told in mbw("table", "weighted_average", "--format", style) + mbw.err
            assert told in mbw("table", "summary_table_weighted_average", "--format", style) + mbw.err
            assert told not in mbw("table", *full, "--format", style) + mbw.err

    def test_documents_have_legend_and_source_in_them_and_of_the_sample_a_warning(
        self, mbw: Mbw, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        warning = "Generated sample: its numbers mean nothing."
        revision = json.loads((mbw.warehouse / "current" / "snapshot.json").read_text())["revision"]
        invalid = "1 invalid group in here: see validity in results\n"
        sample = Mbw(as_sample(mbw.warehouse, tmp_path / "sample"), capsys)
        out = sample("table", "weighted_average", "--format", "markdown")
        assert out.split("\n\n")[1] == (
            "- ! the group is invalid: see validity\\_reasons in result\\_groups\n"
            f"- \\{GAP}"
            f"- source: sample, revision {revision}\n- {warning}\n"
        )
        assert sample.err == ""
        for name in ("weighted_average", "results", "memory_gain"):
            latex = sample("table", name, "--format", "latex")
            assert f"source: sample, revision {revision}" in latex and warning in latex
            assert sample.err == ""
        assert warning not in sample("table", "weighted_average")
        assert sample.err.splitlines()[-1] == warning and "source: " not in sample.err
        sample("table", "weighted_average", "--format", "csv")
        assert sample.err == f"{invalid}{warning}\n"
        sample("table", "weighted_average", "--output", str(tmp_path / "o.parquet"))
        assert sample.err == f"{invalid}{warning}\n"
        assert warning not in mbw("table", "weighted_average", "--format", "markdown") + mbw.err

    def test_what_is_of_unknown_validity_or_out_of_scale_is_marked(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(A_MEM)
        archive.add(MEM0, {"summary.json": {"summary": {"weighted_average": 0.00004}}})
        slashed = (*MEM0[:-1], "mem/100%")
        archive.add(
            slashed, {"summary.json": {"summary": {"weighted_average": 0.25}}}, relative_dir=folder(MEM0) + "-slashed"
        )
        os.rename(archive.root / folder(slashed), archive.root / (folder(MEM0) + "-slashed"))
        details = {"Locomo": [0.5, 1], "NFCats": [7]}  # of 1 to 5
        archive.add(WO_MEMORY, group_files(summary={"summary": {"weighted_average": 1 / 3}, "details": details}))
        build(archive.root, tmp_path / "warehouse")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        unknown = "? whether the group is valid is unknown: it has no responses to judge by\n"
        scale = (
            "# some scores lie outside of their dataset's range, or a published mean of min-max scores outside of 0 to 1; "
            "numbers over samples take scores as they are, and whether a published one does is not known: n_out_of_scale "
            "and n_means_out_of_range in results\n"
        )
        cells = re.findall(r"0\.\S+", mbw("table", "weighted_average"))
        assert sorted(cells) == ["0.0000?", "0.2500?", "0.3333#", "0.7500"]
        assert mbw.err == unknown + scale + GAP
        ranked = {line.split()[-1]: line for line in mbw("table", "collection_rankings").splitlines() if "?" in line}
        assert len(ranked) == 2 and any("4.000e-05?" in line for line in ranked.values())
        assert mbw.err.endswith(unknown + scale)
        board = mbw("table", "leaderboard", "--format", "markdown")
        assert "4.000e-05?" in board and "0.3333#" in board
        latex = mbw("table", "weighted_average", "--format", "latex")
        assert "0.3333\\#" in latex and "whether the group is valid is unknown" in latex
        assert mbw.err == ""
        mbw("table", "results", "--baseline", "mem0")
        assert "validity -: unknown, there are no responses to judge by\n" in mbw.err

    def test_a_mean_that_cannot_be_is_marked_and_never_the_best(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        for baseline, mean in (
            ("a_mem", 0.5), ("high", 1.7), ("inf", float("inf")), ("low", -0.25), ("nan", float("nan")), ("uno", 0.25)
        ):  # fmt: skip
            numbers = {"average": mean, "weighted_average": mean, "z_score": mean * 10, "other": mean}
            archive.add((*A_MEM[:4], baseline), group_files(summary={"summary": numbers}))
        build(archive.root, tmp_path / "warehouse")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        for metric in ("average", "weighted_average"):
            latex = mbw("table", metric, "--format", "latex")
            (row,) = (line for line in latex.splitlines() if "Open-Domain" in line)
            cells = [cell.strip() for cell in row.removesuffix(r" \\").split("&")[3:]]
            assert [cells[0], cells[1], cells[3], cells[5]] == [
                r"\textbf{0.5000}", r"1.7000\#", r"$-$0.2500\#", "0.2500"
            ]  # fmt: skip
            assert "a published mean of min-max scores outside of 0 to 1" in latex
        assert "**5.0000**" in mbw("table", "z_score", "--format", "markdown")
        lines = mbw("table", "collection_rankings", "--format", "markdown").splitlines()
        ranked = {line.split(" | ")[4]: line for line in lines if line.startswith("|")}
        assert "**0.5000**" in ranked["a\\_mem"] and "| 1.700# |" in ranked["high"] and "| -0.2500# |" in ranked["low"]
        assert [name for name, line in ranked.items() if "outside of 0 to 1" in line] == ["high", "low"]
        assert [name for name, line in ranked.items() if "no finite" in line] == ["inf", "nan"]

    def test_coverage_says_which_files_a_complete_group_has(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(A_MEM)
        archive.add(WO_MEMORY, {"summary.json": {"summary": {"weighted_average": 0.5}}})
        archive.add(MEM0, group_files(summary=None))
        build(archive.root, tmp_path / "warehouse")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        lines = [re.split("  +", line) for line in mbw("table", "coverage").splitlines()]
        assert [line[1:4] for line in lines if "complete" in line] == [
            ["a_mem", "complete", "predictions, evaluations, summary"],
            ["wo_memory", "complete", "summary"],
            ["mem0", "complete", "predictions, evaluations"],
        ]
        assert [line[-1] for line in lines if "complete" in line] == ["valid", "unknown", "valid"]
        assert {tuple(line[3:]) for line in lines if "not_published" in line} == {("-",) * 6}
        assert "complete: every file that the archive names for the group is loaded" in mbw.err

    def test_a_legend_explains_what_is_shown_alone(self, mbw: Mbw) -> None:
        assert " unknown" not in mbw("table", "coverage")
        assert [line.split(":")[0] for line in mbw.err.splitlines()] == ["complete", "not_published"]
        assert mbw("table", "leaderboard")
        assert mbw.err == (
            "no rating, 95% interval, ranks left open: there is no second system to compare (2 of 4 rows), invalid in "
            "Open-Domain (1 of 4 rows), no usable scores of single samples are published (1 of 4 rows)\n"
            "no prompt_chars, response_chars: known only where all responses of every collection are published\n"
            "left out, as empty in every row: rank, mean_weighted_average, mean_z_score, mean_rank, rating, 95% interval, "
            "ranks left open, prompt_chars, response_chars\n"
        )

    @pytest.mark.parametrize("name", ["leaderboard", "collection_rankings"])
    def test_why_there_is_no_rating_stands_in_every_table_without_one(
        self, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        for keys, value in ((A_MEM, 0.5), (WO_MEMORY, 0.25)):
            archive.add(keys, {"summary.json": {"summary": {"weighted_average": value}}})
        build(archive.root, tmp_path / "warehouse")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        for style in ("table", "markdown", "latex"):
            shown = (mbw("table", name, "--format", style) + mbw.err).replace("\\", "")
            assert "no rating, 95% interval, ranks left open: no usable scores of single samples are published" in shown
            assert "Bradley-Terry" not in shown

    def test_machines_get_exact_values_without_marks(self, mbw: Mbw) -> None:
        rows = json.loads(mbw("table", "weighted_average", "--format", "json"))
        assert rows[1] == {
            "backbone": "Qwen3-8B",
            "split": "domain",
            "collection": "Open-Domain",
            "a_mem": 0.75,
            "mem0": None,
            "wo_memory": 1 / 3,
        }
        assert mbw.err == "1 invalid group in here: see validity in results\n"
        mbw("table", "weighted_average", "--format", "json", "--baseline", "a_mem")
        assert mbw.err == ""
        assert json.loads(mbw("table", "n", "--format", "json", "--baseline", "wo_memory"))[0]["wo_memory"] == 2**60

    def test_filters(self, mbw: Mbw) -> None:
        out = mbw(
            *("table", "weighted_average", "--format", "csv", "--split", "domain", "--collection", "Open-Domain"),
            *("--backbone", "Qwen3-8B", "--backbone", "Qwen3-32B", "--baseline", "wo_memory", "--baseline", "a_mem"),
        )
        assert out == f"backbone,split,collection,wo_memory,a_mem\nQwen3-8B,domain,Open-Domain,{1 / 3},0.75\n"

    @pytest.mark.parametrize("style", ["markdown", "latex"])
    def test_other_formats(self, mbw: Mbw, style: str) -> None:
        assert "0.3333!" in mbw("table", "weighted_average", "--format", style)

    def test_parquet_of_a_summary_table(self, mbw: Mbw, tmp_path: Path) -> None:
        mbw("table", "weighted_average", "--output", str(tmp_path / "o.parquet"))
        assert pq.read_table(tmp_path / "o.parquet")["wo_memory"].to_pylist() == [None, 1 / 3, None]

    def test_protocols_and_experiments_stand_in_rows_of_their_own(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        archive = archive_in(tmp_path / "archive")
        judged = {"summary": {"metric": "llm_judge_score", "weighted_average": 0.9}}
        archive.add(A_MEM, group_files() | {"judge_summary.json": judged})
        archive.add(("on-policy", *A_MEM[1:]))
        build(archive.root, tmp_path / "warehouse")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        options = ("--format", "csv", "--backbone", "Qwen3-8B", "--split", "domain", "--baseline", "a_mem")
        assert mbw("table", "weighted_average", *options) == (
            "experiment,protocol,backbone,split,collection,a_mem\n"
            "off-policy,llm_judge,Qwen3-8B,domain,Open-Domain,0.9\n"
            "off-policy,metrics,Qwen3-8B,domain,Open-Domain,0.75\n"
            "on-policy,metrics,Qwen3-8B,domain,Open-Domain,0.75\n"
        )
        assert mbw("table", "weighted_average").startswith("off-policy / llm_judge / Qwen3-8B\n")

    def test_an_integer_that_no_float_holds_is_shown_as_it_is(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        for keys, value in ((A_MEM, 0.5), (WO_MEMORY, 10**400), ((*A_MEM[:4], "uno"), -(10**400) + 1)):
            archive.add(keys, group_files(summary={"summary": {"weighted_average": value}}))
        mbw = Mbw(tmp_path / "warehouse", capsys)
        line = ["Open-Domain", "0.5000", "-1.0000e+400", "1.0000e+400"]
        assert mbw("build", "--source", str(archive.root)).splitlines()[-1].split()[1:] == line
        assert mbw("table", "weighted_average").splitlines()[-1].split()[1:] == line
        assert "| 0.5000 | -1.0000e+400 | 1.0000e+400 |" in mbw("table", "weighted_average", "--format", "markdown")
        latex = mbw("table", "weighted_average", "--format", "latex")
        assert r"0.5000 & $-$1.0000e+400 & 1.0000e+400 \\" in latex
        (row,) = csv.DictReader(io.StringIO(mbw("table", "weighted_average", "--format", "csv")))
        assert (row["a_mem"], int(row["uno"]), int(row["wo_memory"])) == ("0.5", -(10**400) + 1, 10**400)
        (found,) = json.loads(mbw("table", "weighted_average", "--format", "json"))
        assert (found["a_mem"], found["uno"], found["wo_memory"]) == (0.5, -(10**400) + 1, 10**400)
        mbw("table", "weighted_average", "--output", str(tmp_path / "o.parquet"))
        assert pq.read_table(tmp_path / "o.parquet")["wo_memory"].to_pylist() == [str(10**400)]
        # The views have numbers that fit a number, and tables print what they have.
        assert "no finite weighted_average is published" in mbw("table", "collection_rankings", "--format", "csv")
        assert str(10**400) in mbw("table", "summary_metrics", "--format", "csv")

    def test_a_table_or_view_by_name(self, mbw: Mbw) -> None:
        out = mbw("table", "results", "--backbone", "Qwen3-32B", "--format", "csv")
        assert [row["weighted_average"] for row in csv.DictReader(io.StringIO(out))] == ["0.75"]
        assert len(json.loads(mbw("table", "prompts", "--format", "json", "--baseline", "mem0"))) == 3

    def test_list(self, mbw: Mbw) -> None:
        rows = {row["name"]: row["kind"] for row in json.loads(mbw("table", "--list", "--format", "json"))}
        assert rows["weighted_average"] == "metric"
        assert rows["results"] == "view"
        assert rows["prompts"] == rows["findings"] == "table"

    def test_the_list_says_what_views_with_invalid_groups_and_metrics_are(self, mbw: Mbw) -> None:
        lines = {line.split()[0]: line.split(maxsplit=2)[2] for line in mbw("table", "--list").splitlines()}
        assert lines["memory_gain_all"] == "The same as memory_gain, with invalid groups in it."
        assert lines["memory_gain"].startswith("What each memory system gains")
        view = "summary_table_weighted_average"
        table = "Summary table of the published {}: a column for each baseline"
        assert lines["weighted_average"] == f"{table.format('weighted_average')}, as the view {view}."
        assert lines["n"] == f"{table.format('n')}."
        assert view in lines

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            (["weighted_averag"], "There is no metric, table or view 'weighted_averag'. Did you mean weighted_average"),
            ([], "mbw table takes the name of a metric, a table or a view; --list names them."),
            (["results", "--list"], "mbw table takes the name"),
            (["z_score", "--split", "tasks"], "There is no split 'tasks'. Did you mean task?"),
            (["z_score", "--backbone", "GPT"], "There is no backbone 'GPT'. There is: Qwen3-32B, Qwen3-8B."),
            (["datasets", "--backbone", "Qwen3-8B"], "datasets has no column 'backbone'; it has dataset,"),
        ],
    )
    def test_usage(self, mbw: Mbw, argv: list[str], message: str) -> None:
        mbw("table", *argv, status=2)
        assert message in mbw.err

    def test_a_known_metric_that_the_archive_lacks_is_no_unknown_name(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(A_MEM, {"summary.json": {"summary": {"z_score": 0.5}}})
        build(archive.root, tmp_path / "warehouse")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        mbw("table", "average", status=2)
        assert mbw.err == (
            "mbw: average is not published in this archive; it publishes z_score. See: mbw table --list\n"
        )

    def test_nine_baselines_fit_the_terminal(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        names = [name for name in BASELINES if name not in ("graphiti", "light", "tencentdb")][:9]
        archive = HandmadeArchive(tmp_path / "archive")
        for name in names:
            summary = {"summary": {"z_score": -0.1234567}}
            archive.add(
                ("off-policy", "Mistral-Small-3.2-24B-Instruct-2506", "domain", "Academic&Knowledge", name),
                {"summary.json": summary},
            )
        build(archive.root, tmp_path / "warehouse")
        lines = Mbw(tmp_path / "warehouse", capsys)("table", "z_score").splitlines()
        assert max(map(len, lines)) <= 120
        # Of a group with a summary alone nothing says whether it is valid.
        assert lines[-1].split() == ["domain", "Academic&Knowledge", *["-0.1235?"] * 9]


class TestStatus:
    def test_for_people(self, mbw: Mbw) -> None:
        lines = dict(line.split(maxsplit=1) for line in mbw("status").splitlines())
        assert lines["warehouse"] == str(mbw.warehouse)
        assert lines["groups"] == "4 complete"
        assert lines["validity"] == "1 invalid, 3 valid"
        assert "ago" in lines["refreshed"]
        assert "4 groups added, 0 changed, 0 removed" in lines["refreshed"]
        assert lines["size"].startswith("database ")

    def test_json(self, mbw: Mbw) -> None:
        status = json.loads(mbw("status", "--json"))
        assert status["groups"] == {"complete": 4}
        assert status["revision"].startswith("content-")
        assert status["last_refresh"]["groups_added"] == 4
        assert status["last_refresh"]["versions"]["duckdb"] == duckdb.__version__
        assert 0 <= status["age_seconds"] < 3600
        assert status["bytes"]["parquet"]["prompts"] > 0

    def test_half_a_snapshot(self, warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        shutil.copytree(warehouse, tmp_path / "w", symlinks=True)
        shutil.rmtree(tmp_path / "w" / "snapshots" / "000001" / "parquet")
        mbw = Mbw(tmp_path / "w", capsys)
        for argv in (["status"], ["status", "--json"]):
            assert mbw(*argv, status=1) == ""
            assert re.fullmatch(r"mbw: \S+/000001/parquet is missing from \S+/w\. Delete .* build again\.\n", mbw.err)

    def test_no_warehouse(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        mbw = Mbw(tmp_path / "none", capsys)
        for argv in (["status"], ["query", "SELECT 1"], ["table", "z_score"]):
            assert mbw(*argv, status=1) == ""
            assert mbw.err == (
                f"mbw: There is no warehouse at {tmp_path / 'none'}. Make one with: mbw build --warehouse "
                f"{tmp_path / 'none'}\n"
            )


class TestBuild:
    def test_for_people(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        archive = archive_in(tmp_path / "archive")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        out = mbw("build", "--source", str(archive.root), "--jobs", "1")
        assert "4 complete; 4 added, 0 changed, 0 removed\n" in out
        assert "\nvalidity   1 invalid, 3 valid\n" in out
        assert "12 predictions, " in out
        assert "\nweighted_average, as published\n\nQwen3-32B\n" in out
        assert "0.3333!" in out
        assert "! the group is invalid" in mbw.err
        again = mbw("build", "--source", str(archive.root))
        assert "(unchanged, nothing to publish, snapshot 000001)" in again
        assert "0 added, 0 changed, 0 removed" in again

    def test_the_sample_takes_the_place_of_nothing_else(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("MBW_SOURCE", raising=False)
        archive, moved = archive_in(tmp_path / "archive"), archive_in(tmp_path / "moved")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        mbw("build", "--source", str(archive.root), "--jobs", "1")
        for command in (["build"], ["build", "--source", "sample", "--full"]):
            mbw(*command, status=1)
            assert f"holds results of {archive.root}, and the generated sample would take their place" in mbw.err
        assert json.loads(mbw("status", "--json"))["snapshot"] == "000001"
        assert f"\nsource     {moved.root} at " in (out := mbw("build", "--source", str(moved.root)))
        assert f"(before: {archive.root})\n" in out

    def test_quarantined_groups_end_with_3_and_say_why(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        archive = archive_in(tmp_path / "archive")
        archive.write(archive.root / folder(MEM0) / "predict.json", b"[")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        out = mbw("build", "--source", str(archive.root), status=3)
        assert "3 complete, 1 quarantined" in out
        assert f"error (input_contract) {folder(MEM0)}/predict.json: group quarantined: not JSON" in out
        mbw("build", "--source", str(archive.root), status=3)  # as long as it is so, also where nothing is new

    def test_select_full_and_embedded_prompts(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        archive = archive_in(tmp_path / "archive")
        mbw = Mbw(tmp_path / "warehouse", capsys)
        source = ("build", "--source", str(archive.root), "--json")
        selected = json.loads(mbw(*source, "--select", "split=domain", "--select", "baseline=a_mem"))
        assert selected["published"] is True
        assert selected["groups"] == {"complete": 2}
        assert selected["added"] == ["off-policy/Qwen3-32B/domain/Legal/a_mem", "/".join(A_MEM)]
        assert selected["rows"]["predictions"] == 6
        assert selected["bytes_read"] > 0
        assert len(json.loads(mbw(*source, "--embed-prompts"))["added"]) == 2
        with duckdb.connect(str(mbw.warehouse / "memorybench.duckdb"), read_only=True) as connection:
            assert connection.execute("SELECT count(*) FROM prompts").fetchone() == (12,)
        assert mbw("query", "SELECT count(*) AS n FROM prompts", "--format", "csv") == "n\n12\n"
        assert len(json.loads(mbw(*source, "--full"))["changed"]) == 4

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            (["--select", "model=x"], "--select model=… is not one of the keys"),
            (["--select", "split"], "expected KEY=VALUE, found 'split'"),
            (["--jobs", "0"], "invalid positive value"),
            (["--sourc", "sample"], "unrecognized arguments"),
            (["--source", ""], "argument --source: must not be empty"),
            (["--warehouse", ""], "argument --warehouse: must not be empty"),
            (["--select", "baseline=a_mm"], "has baseline=a_mm"),
        ],
    )
    def test_usage(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str) -> None:
        archive = archive_in(tmp_path / "archive")
        command = ["build", "--source", str(archive.root), "--warehouse", str(tmp_path / "warehouse"), *argv]
        try:
            status: Any = main(command)
        except SystemExit as error:
            status = error.code
        assert status == 2
        assert message in capsys.readouterr().err

    def test_no_archive(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        mbw = Mbw(tmp_path / "warehouse", capsys)
        mbw("build", "--source", str(tmp_path / "none"), status=1)
        assert mbw.err.startswith(f"mbw: {tmp_path / 'none'} is not a folder.")

    def test_an_interrupt_publishes_nothing(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(self: RefreshRun) -> None:
            raise KeyboardInterrupt

        archive = archive_in(tmp_path / "archive")
        monkeypatch.setattr(RefreshRun, "build_database", interrupted)
        mbw = Mbw(tmp_path / "warehouse", capsys)
        assert mbw("build", "--source", str(archive.root), status=130) == ""
        assert mbw.err == "mbw: interrupted; nothing was published; run the build again\n"
        assert not (tmp_path / "warehouse" / "current").exists()
        assert list((tmp_path / "warehouse" / "snapshots").iterdir()) == []

    def test_bugs_keep_their_traceback(self, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: Any) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(build_command, "build_summary", broken)
        with pytest.raises(ZeroDivisionError):
            main(["build", "--source", str(warehouse.parent / "archive"), "--warehouse", str(warehouse)])

    def test_the_environment_chooses(
        self, warehouse: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MBW_SOURCE", str(warehouse.parent / "archive"))
        monkeypatch.setenv("MBW_WAREHOUSE", str(warehouse))
        assert main(["build"]) == 0
        assert "unchanged, nothing to publish" in capsys.readouterr().out


class TestAsAProcess:
    @staticmethod
    def run(*argv: str, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pipelines.entry", *argv]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False, **options)

    def test_help_imports_nothing_heavy(self) -> None:
        script = (
            "import sys, pipelines.cli as cli\n"
            "try: cli.main(['--help'])\n"
            "except SystemExit: pass\n"
            "heavy = {'duckdb', 'pyarrow', 'pandas', 'numpy', 'dagster', 'great_expectations', 'tqdm', 'sqlglot'}\n"
            "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stderr == "[]\n"
        for command in ("build", "status", "query", "table", "verify"):
            assert f"\n    {command} " in done.stdout

    @pytest.mark.full
    def test_help_is_quick(self) -> None:
        seconds = []
        for _ in range(5):
            start = time.perf_counter()
            assert self.run("--help").returncode == 0
            seconds.append(time.perf_counter() - start)
        assert min(seconds) <= 0.3

    def test_results_go_to_stdout_and_messages_to_stderr(self, warehouse: Path) -> None:
        done = self.run("table", "weighted_average", "--warehouse", str(warehouse), "--format", "csv")
        assert done.returncode == 0
        assert done.stdout.startswith("backbone,split,collection,")
        assert done.stderr == "1 invalid group in here: see validity in results\n"

    def test_no_command_is_usage(self) -> None:
        done = self.run()
        assert (done.returncode, done.stdout) == (2, "")
        assert "usage: mbw" in done.stderr

    @staticmethod
    def shell(line: str, **environment: str) -> tuple[int, str, str]:
        """Status, output and messages of a line for the shell; $mbw runs the command."""
        done = subprocess.run(
            ["sh", "-c", line.replace("$mbw", f'"{sys.executable}" -m pipelines.entry')],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, **environment},
        )
        return done.returncode, done.stdout, done.stderr

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("$mbw query 'SELECT 1' >&-", "standard output is closed; to see no result, send it to /dev/null"),
            ("$mbw query - <&-", "Standard input is closed: there is no query to read."),
            ("$mbw query 'SELECT 1' >/dev/full", "the output cannot be written: No space left on device"),
            ("$mbw query 'FROM range(99999)' >/dev/full", "the output cannot be written: No space left on device"),
            ("$mbw status >/dev/full", "the output cannot be written: No space left on device"),
        ],
    )
    def test_streams_that_are_closed_or_full(self, warehouse: Path, line: str, message: str) -> None:
        assert self.shell(line, MBW_WAREHOUSE=str(warehouse)) == (1, "", f"mbw: {message}\n")

    def test_a_message_never_goes_to_standard_output(self, warehouse: Path) -> None:
        found = self.shell("$mbw query 'SELEC' 2>&-", MBW_WAREHOUSE=str(warehouse))
        assert found == (2, "", "")

    def test_what_the_encoding_of_the_output_lacks(self, warehouse: Path) -> None:
        def shown(*options: str) -> tuple[int, str, str]:
            line = f"$mbw query \"SELECT 'caf\u00e9' AS x\" {' '.join(options)}"
            return self.shell(line, MBW_WAREHOUSE=str(warehouse), PYTHONIOENCODING="ascii")

        assert shown() == (0, "x\n----\ncaf\\xe9\n", "")
        for style in ("csv", "json", "markdown", "latex"):
            status, _, message = shown("--format", style)
            assert status == 1
            assert message == (
                "mbw: standard output takes ascii text, which has no '\\xe9'; set PYTHONIOENCODING=utf-8, or write to a "
                "file\n"
            )

    def test_errors_have_no_traceback(self, tmp_path: Path) -> None:
        done = self.run("status", "--warehouse", str(tmp_path))
        assert done.returncode == 1
        assert done.stderr.startswith("mbw: There is no warehouse at ")
        assert done.stderr.count("\n") == 1

    def test_a_reader_that_goes_away_is_no_failure(self, warehouse: Path) -> None:
        query = "SELECT repeat('x', 50) FROM range(200000)"
        command = [
            sys.executable,
            "-m",
            "pipelines.entry",
            "query",
            query,
            "--format",
            "csv",
            "--warehouse",
            str(warehouse),
        ]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(60) == 0

    @pytest.mark.full
    def test_a_reader_that_goes_away_does_not_make_a_failed_check_pass(self, tmp_path: Path) -> None:
        archive = archive_in(tmp_path / "archive")
        archive.write(archive.root / folder(MEM0) / "predict.json", b"[")
        build(archive.root, tmp_path / "warehouse")
        command = [sys.executable, "-m", "pipelines.entry", "verify", "--warehouse", str(tmp_path / "warehouse")]
        reader, writer = os.pipe()
        os.close(reader)
        try:
            ended = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, check=False)
        finally:
            os.close(writer)
        assert (ended.returncode, ended.stderr) == (3, b"")


def test_a_terminal_shows_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    progress = progress_for_terminal()
    progress.start("load", 4)
    for _ in range(4):
        progress.advance("a group", 1_000_000)
    progress.end()
    assert "load:" in sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert type(progress_for_terminal()) is Progress


class TestVerify:
    def test_json(self, mbw: Mbw) -> None:
        report = json.loads(mbw("verify", "--json"))
        assert report["failed"] is False
        assert {line["check"]: line["failed"] for line in report["checks"]}["round_trip"] == 0

    def test_a_failed_check_ends_with_3(
        self, warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shutil.copytree(warehouse, tmp_path / "copied", symlinks=True)
        next((tmp_path / "copied").glob("parquet/predictions/*/*/*/*/*/part-0.parquet")).unlink()
        mbw = Mbw(tmp_path / "copied", capsys)
        assert "error: parquet_rows: predictions has 9 rows in Parquet and 12 in the database" in mbw(
            "verify", status=3
        )

    def test_no_warehouse(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert Mbw(tmp_path, capsys)("verify", status=1) == ""
