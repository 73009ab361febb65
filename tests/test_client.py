"""The Python client against an independent reading of the same archives: results, order and exceptions."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from pipelines.archive.json_equality import same_json
from pipelines.client import MemoryBenchResults, ResultEntry, load_result_summary_table
from pipelines.client.cache import cache_folder
from pipelines.client.reader import SnapshotReader
from pipelines.errors import SourceError, UsageError, WarehouseError
from schemas import TABLES
from tests.built import warehouse_of
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, build, evaluation, folder, group_files
from tests.published_archive import PublishedArchive

Z_SCORE = group_files()["summary.json"]["summary"]["z_score"]

Pair = tuple[MemoryBenchResults, PublishedArchive]


@pytest.fixture(scope="module", params=["real_archive", pytest.param("traps_archive", marks=pytest.mark.full)])
def pair(request: pytest.FixtureRequest) -> Pair:
    archive = request.getfixturevalue(request.param)
    return MemoryBenchResults.from_warehouse(warehouse_of(archive)), PublishedArchive(archive)


def three_groups(root: Path) -> HandmadeArchive:
    made = HandmadeArchive(root)
    made.add(A_MEM)
    made.add(WO_MEMORY, group_files(summary={"summary": {"z_score": None, "n": 3, "metric": "a text"}}))
    made.add(MEM0, group_files(summary=None))
    return made


@pytest.fixture
def archive(tmp_path: Path) -> HandmadeArchive:
    """Three groups, to be changed by the test."""
    return three_groups(tmp_path / "archive")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> MemoryBenchResults:
    """The same three groups, opened."""
    return opened(three_groups(tmp_path_factory.mktemp("three") / "archive"))


def opened(archive: HandmadeArchive) -> MemoryBenchResults:
    warehouse = archive.root.parent / "warehouse"
    build(archive.root, warehouse)
    return MemoryBenchResults.from_warehouse(warehouse)


NOT_UNICODE = (*A_MEM[:3], "Not Unicode", "a_mem")
BAD = (*A_MEM[:3], "Bad", "a_mem")
EMPTY = (*A_MEM[:3], "Empty", "a_mem")
EMPTY_FILES = group_files(predict=[], evaluate_details=[], summary={"summary": {}}, run_config={})
JUDGED_GROUP = (*A_MEM[:3], "Judged", "a_mem")
JUDGED = {
    "llm_judge_evaluate_details.json": [evaluation("NFCats", 3, {"llm_judge_score": 1, "judge_reason": "good"})],
    "llm_judge_summary.json": {
        "summary": {"metric": "llm_judge_score", "average": 1.0},
        "details": {"NFCats": [1]},
    },
}


@pytest.fixture(scope="module")
def odd_results(tmp_path_factory: pytest.TempPathFactory) -> MemoryBenchResults:
    """Groups that are not as most are."""
    archive = HandmadeArchive(tmp_path_factory.mktemp("odd") / "archive")
    archive.add(NOT_UNICODE, group_files(summary={"summary": {"note": "cut \ud83d", "\ud83d": 1}}))
    archive.add(BAD, group_files(predict={"not": "a list"}))
    archive.add(EMPTY, EMPTY_FILES)
    archive.add(JUDGED_GROUP, group_files() | JUDGED | {"notes.json": {"a": 1}, "notes.txt": b"text"})
    return opened(archive)


@pytest.fixture
def copied(results: MemoryBenchResults, tmp_path: Path) -> Path:
    """A copy of the three groups' warehouse, to be changed by the test."""
    return copy_of(results, tmp_path / "copied")


def copy_of(results: MemoryBenchResults, target: Path) -> Path:
    shutil.copytree(results.warehouse, target, symlinks=True)
    return target


class TestAgainstThePublishedFiles:
    def test_entries_say_what_the_manifest_says(self, pair: Pair) -> None:
        results, published = pair
        assert [entry.key for entry in results.entries] == sorted(published.groups)
        for key, line in published.groups.items():
            assert results.get_entry(*key) == ResultEntry(
                *key, line["run_id"], line["relative_dir"], published.files(key)
            )

    def test_lists(self, pair: Pair) -> None:
        results, published = pair
        assert results.list_exps() == published.listed("exp")
        models = [None, "no such", *results.list_models()]
        sets = [None, *results.list_set_names()]
        for exp, model, split in product([None, "off-policy", "no such"], models, [None, "domain", "task"]):
            wanted = {"exp": exp, "model": model, "dataset_type": split}
            assert results.list_models(exp) == published.listed("model", exp=exp)
            assert results.list_set_names(exp, model, split) == published.listed("set_name", **wanted)
            for name in sets:
                expected = published.listed("baseline", set_name=name, **wanted)
                assert results.list_baselines(exp, model, split, name) == expected

    @pytest.mark.parametrize("metric", ["weighted_average", "z_score", "average", "no such metric"])
    def test_summary_table(self, pair: Pair, metric: str) -> None:
        results, published = pair
        cases: list[dict[str, Any]] = [
            {},
            {"dataset_type": "domain"},
            {"set_name": "Legal"},
            {"dataset_type": "domain", "set_name": "Legal"},
            {"dataset_type": "task", "set_name": "Legal"},
            {"baselines": ["wo_memory", "no such", "a_mem"], "missing_value": "none"},
            {"models": ["Qwen3-8B", "no such"], "missing_value": 0},
            {"exp": "no such"},
        ]
        for case in cases:
            rows = results.summary_table(metric, as_pandas=False, **case)
            expected = published.summary_rows(metric, **{"exp": "off-policy", **case})
            assert same_json(rows, expected), case

    def test_the_summary_table_of_every_group_alone(self, pair: Pair) -> None:
        results, published = pair
        for key in published.groups:
            case: dict[str, Any] = {
                "exp": key.exp,
                "dataset_type": key.dataset_type,
                "set_name": key.set_name,
                "models": [key.model],
                "baselines": [key.baseline],
            }
            rows = results.summary_table("weighted_average", as_pandas=False, **case)
            assert same_json(rows, published.summary_rows("weighted_average", **case)), key


def test_summary_table_as_pandas_has_the_columns_in_order(results: MemoryBenchResults) -> None:
    table = results.summary_table("weighted_average")
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["model", "dataset_type", "set_name", "a_mem", "mem0", "wo_memory"]
    assert table["a_mem"].tolist()[0] == group_files()["summary.json"]["summary"]["weighted_average"]
    empty = results.summary_table("weighted_average", exp="no such")
    assert isinstance(empty, pd.DataFrame)
    assert (list(empty.columns), len(empty)) == (["model", "dataset_type", "set_name"], 0)


def test_values_keep_their_type_and_a_published_null_is_not_missing(results: MemoryBenchResults) -> None:

    def cells(metric: str) -> dict[str, Any]:
        rows = results.summary_table(metric, dataset_type="domain", as_pandas=False, missing_value="missing")
        return {key: rows[0][key] for key in ("a_mem", "wo_memory")}

    assert same_json(cells("z_score"), {"a_mem": Z_SCORE, "wo_memory": None})
    assert same_json(cells("n"), {"a_mem": "missing", "wo_memory": 3})
    assert same_json(cells("metric"), {"a_mem": "missing", "wo_memory": "a text"})


def test_values_and_metrics_that_are_not_unicode(odd_results: MemoryBenchResults) -> None:
    for metric, value in (("note", "cut \ud83d"), ("\ud83d", 1)):
        rows = odd_results.summary_table(metric, set_name="Not Unicode", as_pandas=False)
        assert [row["a_mem"] for row in rows] == [value]


def test_a_group_without_a_summary_gives_the_missing_value(results: MemoryBenchResults) -> None:
    rows = results.summary_table("z_score", dataset_type="task", as_pandas=False, missing_value=-1)
    assert rows == [
        {"model": "Qwen3-8B", "dataset_type": "task", "set_name": "Long-Short", "mem0": -1},
    ]


def test_summary_table_takes_one_query(results: MemoryBenchResults, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = []
    execute = SnapshotReader.execute

    def counted(self: SnapshotReader, query: str, parameters: Any = ()) -> Any:
        queries.append(query)
        return execute(self, query, parameters)

    monkeypatch.setattr(SnapshotReader, "execute", counted)
    results.summary_table("weighted_average")
    assert len(queries) == 1


def test_a_group_that_is_not_there(results: MemoryBenchResults) -> None:
    message = (
        "Result not found for exp='off-policy', model='Qwen3-8B', dataset_type='domain', set_name='Legal', "
        "baseline='a_mem'"
    )
    for load in (results.get_entry, results.load_summary, results.load_predict, results.load_run_config):
        with pytest.raises(KeyError) as raised:
            load("off-policy", "Qwen3-8B", "domain", "Legal", "a_mem")
        assert raised.value.args == (message,)


def test_a_file_that_the_group_lacks(results: MemoryBenchResults) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        results.load_summary(*MEM0)
    assert str(raised.value) == f"summary.json is not available for {folder(MEM0)}"
    with pytest.raises(FileNotFoundError, match=r"leaderboard\.json is not available"):
        results.load_json(*A_MEM, "leaderboard.json")


def test_a_quarantined_group_is_listed_and_loading_it_says_why(odd_results: MemoryBenchResults) -> None:
    assert "Bad" in odd_results.list_set_names()
    with pytest.raises(FileNotFoundError, match=r"group quarantined: expected a list at the top, found an object"):
        odd_results.load_summary(*BAD)
    rows = odd_results.summary_table("z_score", set_name="Bad", as_pandas=False)
    assert rows == [{"model": "Qwen3-8B", "dataset_type": "domain", "set_name": "Bad", "a_mem": None}]


def test_a_stale_group_shows_its_last_good_version(archive: HandmadeArchive) -> None:
    opened(archive).close()
    archive.write(archive.root / folder(A_MEM) / "predict.json", b"[")
    results = opened(archive)
    assert same_json(results.load_predict(*A_MEM), group_files()["predict.json"])


def test_other_files_load_where_they_hold_evaluations_or_a_summary(odd_results: MemoryBenchResults) -> None:
    for name, content in {**group_files(), **JUDGED}.items():
        assert same_json(odd_results.load_json(*JUDGED_GROUP, name), content)
    for name, reason in (("notes.json", "neither evaluation details nor a summary"), ("notes.txt", "not one of")):
        with pytest.raises(FileNotFoundError, match=f"{name} is not available for .*: listed, not loaded: {reason}"):
            odd_results.load_json(*JUDGED_GROUP, name)


def test_empty_files_come_back(odd_results: MemoryBenchResults) -> None:
    for name, content in EMPTY_FILES.items():
        assert same_json(odd_results.load_json(*EMPTY, name), content)


class TestOpenWhileRefreshed:
    def test_the_opened_version_stays_until_it_is_deleted(self, archive: HandmadeArchive) -> None:
        def refreshed(number: int) -> None:
            archive.add(A_MEM, group_files(summary={"summary": {"z_score": number}}))
            build(archive.root, archive.root.parent / "warehouse")

        results = opened(archive)
        refreshed(1)
        assert results.load_summary(*A_MEM)["summary"]["z_score"] == Z_SCORE
        assert len(results.pandas("prompts")) == 9
        refreshed(2)
        for load in (lambda: results.load_predict(*A_MEM), lambda: results.sql("FROM prompts")):
            with pytest.raises(WarehouseError, match=r"the version that was opened is deleted\. Open it again"):
                load()

    def test_a_warehouse_that_was_made_anew_at_the_same_place_says_so(
        self, results: MemoryBenchResults, copied: Path
    ) -> None:
        opened_before = MemoryBenchResults.from_warehouse(copied)
        copied.rename(copied.with_name("moved"))
        copy_of(results, copied)
        with pytest.raises(WarehouseError, match="Open it again"):
            opened_before.load_summary(*A_MEM)


class TestTables:
    def test_sql_gives_a_data_frame(self, results: MemoryBenchResults) -> None:
        frame = results.sql(
            "SELECT baseline, n_predictions FROM result_groups WHERE split = ? ORDER BY ALL", ["domain"]
        )
        assert frame.to_dict("list") == {"baseline": ["a_mem", "wo_memory"], "n_predictions": [3, 3]}

    def test_nothing_can_be_changed(self, results: MemoryBenchResults) -> None:
        with pytest.raises(UsageError, match="Only queries can be run"):
            results.sql("DELETE FROM result_groups")

    @pytest.mark.parametrize(
        "query",
        [
            "COPY (SELECT 1) TO '{place}/new.csv'",
            "WITH x AS (COPY (SELECT 1) TO '{place}/new.csv') FROM x",
            "ATTACH '{place}/new.duckdb' AS n",
            "ATTACH ':memory:' AS m",
            "FROM read_text('{place}/secret')",
            "FROM '{place}/secret.csv'",
            "SET enable_external_access = true",
            "CREATE TEMP TABLE t AS SELECT 1",
            "SELECT 1; SELECT 2",
        ],
    )
    def test_a_query_reaches_nothing_outside_of_the_warehouse(
        self, results: MemoryBenchResults, tmp_path: Path, query: str
    ) -> None:
        for name in ("secret", "secret.csv"):
            (tmp_path / name).write_text("a\n1\n")
        with pytest.raises((UsageError, duckdb.Error)):
            results.sql(query.format(place=tmp_path))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "secret.csv"]
        root = results.warehouse / "parquet"
        assert len(results.sql("FROM prompts")) == len(results.sql(f"FROM prompts('{root}')")) == 9

    @pytest.mark.parametrize("query", ["", " -- nothing"])
    def test_no_query_at_all(self, results: MemoryBenchResults, query: str) -> None:
        with pytest.raises(UsageError, match="One query at a time: found no statement"):
            results.sql(query)

    def test_what_is_no_name_or_no_list_of_names(self, results: MemoryBenchResults) -> None:
        with pytest.raises(TypeError, match="metric is the name of one, not None"):
            results.summary_table(None)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"write models=\['Qwen3-8B'\]"):
            results.summary_table("z_score", models="Qwen3-8B")
        with pytest.raises(TypeError, match=r"write baselines=\['a_mem'\]"):
            results.summary_table("z_score", baselines="a_mem")

    def test_filters_of_every_type(self, results: MemoryBenchResults) -> None:
        everything = results.pandas("predictions")
        for value in (3, np.int64(3), "3", 3.0):
            assert len(results.pandas("predictions", test_idx=value)) == (everything.test_idx == 3).sum() > 0
        assert len(results.arrow("predictions", test_idx=[0, 3])) == everything.test_idx.isin([0, 3]).sum()
        assert len(results.arrow("predictions", test_idx=np.array([0, 3]))) == everything.test_idx.isin([0, 3]).sum()
        assert results.arrow("refreshes", ended=results.pandas("refreshes").ended[0]).num_rows == 1
        missing = results.sql("SELECT count(*) AS n FROM result_groups WHERE run_id IS NULL").n[0]
        assert results.arrow("result_groups", run_id=None).num_rows == missing
        assert results.arrow("result_groups", run_id=[None, "no such"]).num_rows == missing
        assert results.arrow("prompts", messages=[results.arrow("prompts")["messages"][0].as_py()]).num_rows > 0
        with pytest.raises(UsageError, match="predictions cannot be filtered by test_idx='x': "):
            results.arrow("predictions", test_idx="x")
        with pytest.raises(UsageError, match="predictions cannot be filtered by test_idx=<object"):
            results.pandas("predictions", test_idx=object())

    @pytest.mark.parametrize("table", [*TABLES, "results"])
    def test_every_table_in_every_form(self, results: MemoryBenchResults, table: str) -> None:
        arrow = results.arrow(table)
        if table in TABLES:
            assert arrow.column_names == [column.name for column in TABLES[table].database_columns]
        assert len(results.pandas(table)) == len(results.polars(table)) == arrow.num_rows
        assert isinstance(results.polars(table), pl.DataFrame)

    def test_filters(self, results: MemoryBenchResults) -> None:
        assert results.arrow("predictions", baseline="a_mem").num_rows == 3
        assert results.arrow("prompts", baseline=["a_mem", "mem0"], split="domain").num_rows == 3
        assert results.arrow("prompts", baseline=[]).num_rows == 0
        with pytest.raises(UsageError, match="datasets has no column 'baseline'"):
            results.arrow("datasets", baseline="a_mem")
        with pytest.raises(UsageError, match="Did you mean predictions"):
            results.pandas("prediction")

    def test_many_threads(self, results: MemoryBenchResults) -> None:
        with ThreadPoolExecutor(4) as pool:
            counts = list(pool.map(lambda _: results.arrow("predictions").num_rows, range(20)))
        assert counts == [9] * 20

    def test_another_connection_of_the_process_to_the_same_file(self, results: MemoryBenchResults) -> None:
        database = results.warehouse / "memorybench.duckdb"
        with duckdb.connect(str(database), read_only=True) as connection:
            assert connection.execute("SELECT count(*) FROM result_groups").fetchone() == (3,)
            assert len(results.sql("FROM result_groups")) == 3


class TestCachedWarehouses:
    def test_from_local_builds_and_follows_the_archive(self, archive: HandmadeArchive, tmp_path: Path) -> None:
        cache = tmp_path / "cache"
        with MemoryBenchResults.from_local(archive.root, cache_dir=cache) as results:
            assert (results.repo_id, results.repo_type) == ("local", "dataset")
            assert results.load_summary(*A_MEM) == group_files()["summary.json"]
        snapshots = sorted(path.name for path in cache.glob("*/snapshots/*"))
        with MemoryBenchResults.from_local(str(archive.root), cache_dir=cache):
            assert sorted(path.name for path in cache.glob("*/snapshots/*")) == snapshots
        archive.add(A_MEM, group_files(summary={"summary": {"z_score": 7}}))
        with MemoryBenchResults.from_local(archive.root, cache_dir=cache) as results:
            assert results.load_summary(*A_MEM) == {"summary": {"z_score": 7}}
        assert len(list(cache.iterdir())) == 1

    def test_the_cache_folder(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert cache_folder() == tmp_path / "memorybench-warehouse"
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        assert cache_folder() == tmp_path / "home" / ".cache" / "memorybench-warehouse"
        assert cache_folder(tmp_path) == tmp_path

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="is not a folder"):
            MemoryBenchResults.from_local(tmp_path / "nothing", cache_dir=tmp_path)

    def test_results_are_datasets(self) -> None:
        with pytest.raises(UsageError, match="repo_type is 'model'"):
            MemoryBenchResults.from_hf(repo_type="model")

    def test_the_function_form(self, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[Any] = []

        def from_hf(repo_id: str, **options: Any) -> MemoryBenchResults:
            asked.append((repo_id, options))
            return MemoryBenchResults.from_warehouse(copied)

        monkeypatch.setattr(MemoryBenchResults, "from_hf", from_hf)
        table = load_result_summary_table(
            metric="z_score", exp="off-policy", models=["Qwen3-8B"], dataset_type=None, set_name=None, revision="v1"
        )
        assert isinstance(table, pd.DataFrame)
        assert table["a_mem"].tolist()[0] == Z_SCORE
        assert asked == [("THUIR/MemoryBench-Results", {"revision": "v1", "cache_dir": None})]


def test_no_warehouse(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match=r"There is no warehouse at .* Make one with: mbw build"):
        MemoryBenchResults.from_warehouse(tmp_path)


def test_a_warehouse_of_another_format(copied: Path) -> None:
    path = copied / "current" / "snapshot.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": -1}))
    with pytest.raises(WarehouseError, match="built by another version of this program"):
        MemoryBenchResults.from_warehouse(copied)
