"""Great Expectations on the loaded tables: each failure with its exact finding, and which of them block publication."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from pipelines.archive.json_reader import loads
from pipelines.errors import PublicationBlocked
from pipelines.findings import Finding
from pipelines.load import database
from pipelines.load.assembly import write_findings
from pipelines.load.partitions import read_single
from pipelines.load.snapshots import DATABASE, PARQUET
from pipelines.quality import gx_runner
from pipelines.quality.expectations import suites
from pipelines.quality.gx_runner import MAX_GROUPS, ExpectationResult, SuiteResult, run_suites
from pipelines.quality.ranges import metric_range_suites
from pipelines.quality.suite import Expectation, Suite
from pipelines.quality.validation import check_database, opened, validate_snapshot
from pipelines.refresh import RefreshReport
from schemas import TABLES
from schemas.model import Table
from tests.conftest import ROOT
from tests.handmade import A_MEM, WO_MEMORY, HandmadeArchive, Keys, build, evaluation, group_files, group_id
from tests.reconciled import nfcats_files, reconciled_files, snapshot_copy

GROUP = group_id(A_MEM)
Spoil = Callable[[str], Path]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of two groups with nothing wrong in it."""
    folder = tmp_path_factory.mktemp("published")
    archive = HandmadeArchive(folder / "archive")
    for keys in (A_MEM, WO_MEMORY):
        archive.add(keys, reconciled_files(keys))
    build(archive.root, folder / "warehouse")
    return folder / "warehouse"


@pytest.fixture
def spoil(published: Path, tmp_path: Path) -> Spoil:
    """Run SQL on a copy of the snapshot's database."""

    def spoiled(sql: str) -> Path:
        folder = snapshot_copy(published, tmp_path / "snapshot")
        with duckdb.connect(str(folder / DATABASE)) as connection:
            connection.execute(sql)
        return folder

    return spoiled


def stored(folder: Path, stage: str = "quality") -> list[tuple[str, str]]:
    with duckdb.connect(str(folder / DATABASE), read_only=True) as connection:
        query = 'SELECT "check", message FROM findings WHERE stage = ? ORDER BY ALL'
        return connection.execute(query, [stage]).fetchall()


def test_a_good_snapshot_has_no_finding(spoil: Spoil) -> None:
    folder = spoil("SELECT 1")
    assert validate_snapshot(folder) == []
    results = {path.stem: loads(path.read_bytes()) for path in (folder / "quality").glob("*.json")}
    assert all(result["success"] for name, result in results.items() if name != "reconciliation")
    assert {f"suite-{table.name}" for table in TABLES.values() if table.in_database} <= results.keys()


def test_the_same_snapshot_gives_the_same_results(published: Path, tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        folder = snapshot_copy(published, tmp_path / name)
        validate_snapshot(folder)
        written.append({path.name: path.read_bytes() for path in (folder / "quality").glob("*.json")})
    assert written[0] == written[1]


SPOILED = [
    pytest.param(
        f"INSERT INTO summary_metrics SELECT * FROM summary_metrics WHERE group_id = '{GROUP}' AND metric = 'average'",
        "summary_metrics: expected that group_id, protocol, metric identify a row of summary_metrics; not so in 2 "
        f"rows: metric average; metric average (group {GROUP})",
        id="a duplicate key",
    ),
    pytest.param(
        "INSERT INTO datasets SELECT * FROM datasets WHERE dataset = 'NFCats'",
        "datasets: expected that dataset identify a row of datasets; not so in 2 of 29 rows: dataset NFCats; "
        "dataset NFCats",
        id="a duplicate key of reference data",
    ),
    pytest.param(
        "DELETE FROM normalization",
        "normalization: expected that normalization has rows, because the archive has records for it; found 0",
        id="empty reference data",
    ),
    pytest.param(
        "DELETE FROM run_configs",
        "run_configs: expected that run_configs has rows, because the archive has records for it; found 0",
        id="an empty table",
    ),
    pytest.param(
        f"DELETE FROM predictions WHERE group_id = '{GROUP}' AND dataset = 'NFCats'",
        "row_counts: expected that each group has as many rows of predictions as its files have records of "
        "predict.json (n_predictions); not so in 1 row: predictions_expected 3, predictions_rows 2",
        id="a row too few",
    ),
    pytest.param(
        f"DELETE FROM sample_annotations WHERE group_id = '{GROUP}' AND dataset = 'Locomo-0'",
        "row_counts: expected that each group has as many rows of sample_metrics and sample_annotations as its files "
        "have keys of metrics (evaluations.n_metrics); not so in 1 row: metrics_expected 5, metrics_rows 4",
        id="a metric lost on the way",
    ),
    pytest.param(
        f"UPDATE sample_metrics SET test_idx = 99 WHERE group_id = '{GROUP}' AND dataset = 'NFCats'",
        "sample_metrics: expected that every row's group_id and protocol and dataset and test_idx stands in "
        "evaluations; not so in 1 row: dataset NFCats, test_idx 99, metric score",
        id="a metric without its evaluation",
    ),
    pytest.param(
        "DELETE FROM baselines WHERE baseline = 'a_mem'",
        "result_groups: expected that every row's baseline stands in baselines; not so in 1 row",
        id="a key without its dimension row",
    ),
    pytest.param(
        f"UPDATE summary_metrics SET baseline = 'mem0' WHERE group_id = '{GROUP}' AND metric = 'z_score'",
        "summary_metrics: expected that every row's group_id and experiment and backbone and split and collection and "
        "baseline stands in result_groups; not so in 1 row: metric z_score",
        id="keys that are not the group's",
    ),
    pytest.param(
        f"UPDATE sample_scores SET origin = 'guessed' WHERE group_id = '{GROUP}' AND dataset = 'NFCats'",
        "sample_scores: expected that origin is one of published, derived; not so in 1 row: dataset_group NFCats, "
        "position 0, value guessed",
        id="a value that is not allowed",
    ),
    pytest.param(
        f"UPDATE predictions SET prompt_chars = -1 WHERE group_id = '{GROUP}' AND dataset = 'Locomo-0'",
        "predictions: expected that prompt_chars lies at or above 0; not so in 1 row: dataset Locomo-0, test_idx 1, "
        "value -1",
        id="a value below its minimum",
    ),
    pytest.param(
        None,
        "row_counts: expected that each group has as many rows of prompts as its files have records of predict.json "
        "(n_predictions); not so in 1 row: prompts_expected 3, prompts_rows 0",
        id="missing prompts",
    ),
]


@pytest.fixture(scope="module")
def blocking(published: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What blocks a snapshot that has every fault of SPOILED, each where it does not meet another."""
    folder = snapshot_copy(published, tmp_path_factory.mktemp("spoiled") / "snapshot")
    next((folder / PARQUET / "prompts").rglob("baseline=a_mem/*.parquet")).unlink()
    with duckdb.connect(str(folder / DATABASE)) as connection:
        for parameters in SPOILED:
            if (sql := parameters.values[0]) is not None:
                connection.execute(str(sql))
    with opened(folder, read_only=True) as connection:
        return check_database(connection, folder / PARQUET).blocking


@pytest.mark.parametrize("sql, message", SPOILED)
def test_a_fault_of_a_whole_table_blocks_publication(blocking: list[str], sql: str | None, message: str) -> None:
    assert len([text for text in blocking if text.startswith(message)]) == 1, blocking


def test_nothing_else_blocks(blocking: list[str]) -> None:
    suites_named = {text.partition(":")[0] for text in blocking}
    assert suites_named == {
        "datasets", "normalization", "predictions", "result_groups", "row_counts", "run_configs", "sample_metrics",
        "sample_scores", "summary_metrics",
    }  # fmt: skip


@pytest.mark.parametrize(
    "sql, message",
    [
        pytest.param(
            "ALTER TABLE run_configs DROP COLUMN threads",
            "table_name run_configs, column_name threads, declared BIGINT, actual nothing",
            id="a missing column",
        ),
        pytest.param(
            "ALTER TABLE run_configs ALTER COLUMN retrieve_k TYPE DOUBLE",
            "table_name run_configs, column_name retrieve_k, declared BIGINT, actual DOUBLE",
            id="a column of another type",
        ),
        pytest.param(
            "ALTER TABLE sample_scores ALTER COLUMN position DROP NOT NULL",
            "table_name sample_scores, column_name position, declared BIGINT NOT NULL, actual BIGINT",
            id="a column that may be NULL",
        ),
    ],
)
def test_other_columns_than_declared_block_publication(spoil: Spoil, sql: str, message: str) -> None:
    with pytest.raises(PublicationBlocked) as blocked:
        validate_snapshot(spoil(sql))
    assert "columns: expected that each table has the columns that are declared; not so in 1 of " in str(blocked.value)
    assert message in str(blocked.value)


def test_an_empty_table_is_not_a_pass(spoil: Spoil) -> None:
    with pytest.raises(PublicationBlocked) as blocked:
        validate_snapshot(spoil("DELETE FROM sample_metrics"))
    assert str(blocked.value).startswith(
        "2 checks on whole tables failed, so nothing was published and the old warehouse is as it was:\n"
        "  sample_metrics: expected that sample_metrics has rows, because the archive has records for it; found 0\n"
        "  row_counts: expected that each group has as many rows of sample_metrics and sample_annotations as its files "
        f"have keys of metrics (evaluations.n_metrics); not so in 1 row: metrics_expected 5, metrics_rows 2 (group {GROUP} "
        "and 1 more)\n"
    )


def test_a_blocked_build_leaves_the_old_warehouse(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(published, tmp_path / "warehouse", symlinks=True)
    before = (tmp_path / "warehouse" / "current").readlink()
    filled = database.fill_table

    def doubled(connection: duckdb.DuckDBPyConnection, table: Table, parquet_dir: Path) -> None:
        for _ in range(2 if table.name == "evaluations" else 1):
            filled(connection, table, parquet_dir)

    monkeypatch.setattr(database, "fill_table", doubled)
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM, reconciled_files(A_MEM))
    with pytest.raises(PublicationBlocked, match="identify a row of evaluations"):
        build(archive.root, tmp_path / "warehouse")
    assert (tmp_path / "warehouse" / "current").readlink() == before
    assert [path.name for path in (tmp_path / "warehouse" / "snapshots").iterdir()] == [before.name]


RANGES: Keys = (*A_MEM[:4], "out of range")
UNPREDICTED: Keys = (*A_MEM[:4], "not predicted")
NUMBERS: Keys = (*A_MEM[:4], "numbers alone")
NO_PREDICTIONS: Keys = (*A_MEM[:4], "no predictions")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> RefreshReport:
    """What published data may do: odd, and no fault of this program."""
    folder = tmp_path_factory.mktemp("odd")
    archive = HandmadeArchive(folder / "archive")
    archive.add(RANGES, nfcats_files(RANGES, [4, 7, 0], [4, 7, 0]))
    files = group_files(summary=None)
    files["evaluate_details.json"].append(evaluation("NFCats", 8, {"score": 2}))
    archive.add(UNPREDICTED, files)
    archive.add(NUMBERS, group_files(summary={"summary": {"weighted_average": 0.5}}))
    archive.add(NO_PREDICTIONS, reconciled_files(NO_PREDICTIONS, predict=None))
    return build(archive.root, folder / "warehouse")


def test_a_metric_out_of_its_range_is_a_finding_of_its_group(odd: RefreshReport) -> None:
    expected = "metric_ranges: expected that NFCats score lies between 1 and 5; not so in 2 "
    rows = "dataset NFCats, test_idx 1, value 7; dataset NFCats, test_idx 2, value 0"
    assert [f for f in odd.findings if f.check == "metric_range"] == [
        Finding("metric_range", "warning", f"{expected}of 13 rows, in 1 group", n_rows=2),
        Finding("metric_range", "warning", f"{expected}rows: {rows}", group_id=group_id(RANGES), n_rows=2),
    ]
    assert not odd.needs_attention, "the data is as published: to be read with care, not wrong"


def test_a_score_out_of_its_scale_is_a_finding_of_its_group(odd: RefreshReport) -> None:
    assert [f.message for f in odd.findings if f.check == "score_range" and f.group_id] == [
        "score_ranges: expected that NFCats lies between 1 and 5; not so in 2 rows: dataset_group NFCats, dataset "
        "NFCats, test_idx 1, position 1, value 7; dataset_group NFCats, dataset NFCats, test_idx 2, position 2, value 0"
    ]
    assert [f.message for f in odd.findings if f.check == "suspect_group"] == [
        "suspect: 2 scores lie outside their dataset's range"
    ]


def test_an_evaluation_without_its_prediction_is_a_finding(odd: RefreshReport) -> None:
    (finding,) = [f for f in odd.findings if f.check == "reference" and f.group_id]
    assert finding == Finding(
        "reference",
        "warning",
        "evaluations: expected that every row's group_id and dataset and test_idx stands in predictions; not so in 1 "
        "row: dataset NFCats, test_idx 8",
        group_id=group_id(UNPREDICTED),
        dataset="NFCats",
        test_idx=8,
        n_rows=1,
    )


def test_a_group_without_predictions_or_details_is_no_fault(odd: RefreshReport) -> None:
    alone = {group_id(NUMBERS), group_id(NO_PREDICTIONS)}
    assert [f for f in odd.findings if f.group_id in alone] == []


def test_summaries_of_numbers_alone_leave_their_datasets_empty(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM, group_files(summary={"summary": {"weighted_average": 0.5}}))
    report = build(archive.root, tmp_path / "warehouse")
    assert [(f.check, f.severity) for f in report.findings] == [("reconcile_summary", "info")]


def test_findings_of_other_stages_stay(published: Path, tmp_path: Path) -> None:
    folder = snapshot_copy(published, tmp_path / "snapshot")
    listed = Finding("missing_file", "warning", "it is not there", group_id=GROUP, file="a/predict.json")
    old = Finding("metric_range", "warning", "of an earlier run")
    write_findings(folder / PARQUET, {"source": [listed], "quality": [old]})
    with duckdb.connect(str(folder / DATABASE)) as connection:
        connection.execute(f"INSERT INTO findings SELECT * FROM '{folder}/parquet/findings/part-0.parquet'")
        connection.execute(
            "UPDATE result_groups SET validity = 'suspect', validity_reasons = 'so' WHERE baseline = 'a_mem'"
        )
    (found,) = validate_snapshot(folder)
    assert (found.check, found.message) == ("suspect_group", "suspect: so")
    for _ in range(2):  # validating again changes nothing
        assert stored(folder, "source") == [("missing_file", "it is not there")]
        assert stored(folder) == [("suspect_group", "suspect: so")]
        rows = read_single(folder / PARQUET, TABLES["findings"]).to_pylist()
        assert [(row["stage"], row["check"]) for row in rows] == [
            ("source", "missing_file"),
            ("quality", "suspect_group"),
        ]
        validate_snapshot(folder)


def test_no_suite_looks_at_long_text(published: Path) -> None:
    with opened((published / "current").resolve(), read_only=True) as connection:
        for suite in suites(connection, None):
            columns = {row[0] for row in connection.execute(f"DESCRIBE {suite.query}").fetchall()}
            table = TABLES.get(suite.name)
            long = {column.name for column in table if column.long_text} if table else {"messages", "response"}
            assert not columns & long, suite.name


def test_unbounded_and_unknown_metrics_have_no_expectation() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE sample_metrics AS SELECT 'JRE-L' AS dataset, unnest(['CLI', 'FKGL', 'Rouge-L', 'new']) AS metric"
        )
        (suite,) = metric_range_suites(connection)
    assert [e.arguments["column"] for e in suite.expectations] == ["JRE-L Rouge-L"]


def test_many_failing_groups_and_rows_are_cut() -> None:
    expectation = Expectation(
        "metric_range", "ExpectColumnValuesToBeBetween", {"column": "x"}, "x lies between 0 and 1"
    )
    groups: dict[str | None, int] = {f"group {i:03}": 30 for i in range(120)}
    examples = {group: [f"row {i}" for i in range(20)] for group in list(groups)[:MAX_GROUPS]}
    result = ExpectationResult(expectation, False, 5000, 3600, groups, examples)
    findings = SuiteResult(Suite("ranges", "", (), (expectation,)), [result]).findings()
    assert len(findings) == MAX_GROUPS + 1
    assert findings[0].group_id == "group 000"
    assert findings[0].message.endswith("row 18; row 19; and 10 more")
    assert findings[-1].message == (
        "ranges: expected that x lies between 0 and 1; not so in 3600 of 5000 rows, in 120 groups, of which the first "
        "50 have a finding of their own"
    )
    assert max(len(finding.message) for finding in findings) <= 2000


def test_rows_that_nothing_names_are_only_counted() -> None:
    keys = {"column_list": ["group_id", "protocol"]}
    unique = Expectation("unique_key", "ExpectCompoundColumnsToBeUnique", keys, "the key is unique")
    query = "SELECT 'g' AS group_id, 'metrics' AS protocol FROM range(2)"
    with duckdb.connect() as connection:
        (result,) = run_suites(connection, [Suite("t", query, ("protocol",), (unique,))])
    assert [finding.message for finding in result.findings()] == [
        "t: expected that the key is unique; not so in 2 rows",
        "t: expected that the key is unique; not so in 2 of 2 rows, in 1 group",
    ]


@pytest.mark.parametrize("rows", [1, 40])
def test_groups_checked_some_at_a_time_give_the_same_results(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    keys = {"column_list": ["group_id", "n"]}
    expectations = (
        Expectation("metric_range", "ExpectColumnValuesToBeBetween", {"column": "x", "max_value": 90}, "x is small"),
        Expectation("unique_key", "ExpectCompoundColumnsToBeUnique", keys, "group_id, n identify a row"),
        Expectation("bounds", "ExpectColumnValuesToBeBetween", {"column": "n", "min_value": 0}, "n is no less than 0"),
    )
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 'group ' || g AS group_id, n % 8 AS n, (g * 37 + n * 11) % 100 AS x "
            "FROM range(60) AS a(g), range(9) AS b(n) ORDER BY hash(g), n"
        )
        (whole,) = run_suites(connection, [Suite("t", "FROM t", ("n",), expectations)])
        monkeypatch.setattr(gx_runner, "BATCH_VALUES", 3 * rows)
        (parts,) = run_suites(connection, [Suite("t", "FROM t", ("n",), expectations, "t")])
    assert parts.as_dict() == whole.as_dict()
    assert parts.findings() == whole.findings()
    assert [result.success for result in whole.results] == [False, False, True]
    assert len(whole.findings()) == 2 * (MAX_GROUPS + 1)


@pytest.mark.full
@pytest.mark.parametrize("before", ["", "import pyspark; "])
def test_a_pyspark_that_is_installed_is_left_alone(tmp_path: Path, before: str) -> None:
    """Spark Connect ends a process whose main module has no file, with status 0, when it is imported."""
    connect = tmp_path / "pyspark" / "sql" / "connect"
    connect.mkdir(parents=True)
    for folder in (connect.parent.parent, connect.parent):
        (folder / "__init__.py").write_text("")
    (connect / "__init__.py").write_text("import sys; sys.exit(0)")
    script = f"{before}from pipelines.quality.gx_import import preload; preload(); print('goes on')"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "goes on\n", done.stderr


def test_what_the_import_leaves_out_is_there_when_it_is_asked_for() -> None:
    script = """
import sys
from pipelines.quality.gx_import import preload
preload()
print(sorted({"altair", "boto3", "scipy.stats"} & set(sys.modules)))
from great_expectations.expectations.core import expect_column_kl_divergence_to_be_less_than as module
print(module.stats.norm.cdf(0), module.alt.Chart.__name__, "scipy.stats" in sys.modules, "altair" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n0.5 Chart True True\n", done.stderr
