"""The views over a few rows each, with the rows expected worked out by hand; and the files of sql/ themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.archive.groups import GroupKey
from pipelines.load.database import STORAGE_VERSION
from pipelines.load.partitions import partition_file
from pipelines.load.views import (
    SqlFileError,
    create_views,
    in_order,
    list_macros,
    list_views,
    parse_sql_file,
    quoted,
    summary_table_columns,
)
from schemas import TABLES
from schemas.model import LLM_JUDGE, METRICS
from tests.warehouse_rows import WarehouseRows

HOSTILE = 'x"; drop'
NAN, INF = math.nan, math.inf


def _fill(warehouse: WarehouseRows) -> None:
    """Each case is an experiment of its own, named after what is special about it."""
    warehouse.constants("A", lowest=0, highest=10, mu=5, sigma=2)
    warehouse.constants("B", lowest=1, highest=5, mu=3, sigma=1)
    warehouse.constants("flat", lowest=3, highest=3, mu=3, sigma=1e-6)
    warehouse.insert("datasets", dataset="Locomo-3", dataset_group="Locomo")

    key = warehouse.group("complete", n_predictions=4, n_evaluations=4, n_failed=1, validity="suspect",
                          validity_reasons="1 of 4 responses failed", first_revision="r7", relative_dir="some/where")  # fmt: skip
    warehouse.scores(key, "A", [2, 8, 5], failed=False)
    warehouse.scores(key, "B", [5], failed=True)
    warehouse.summary(key, average=0.75, weighted_average=0.625, z_score=0.5)
    for name, values in {"A": (5, 0.5, 0), "B": (5, 1, 2)}.items():
        warehouse.add("summary_datasets", key, protocol=METRICS, dataset_group=name, average=values[0],
                      minmax_average=values[1], z_average=values[2])  # fmt: skip

    key = warehouse.group("no summary", n_predictions=2, n_evaluations=2, n_failed=0, validity="valid")
    warehouse.scores(key, "A", [2, 8], origin="derived")

    key = warehouse.group("one score missing", n_evaluations=4)
    warehouse.scores(key, "A", [2, 8], evaluated=3, known=False)
    warehouse.scores(key, "B", [5])
    warehouse.summary(key, average=0.7, weighted_average=0.6, z_score=None)

    key = warehouse.group("one dataset without scores", n_evaluations=3)
    warehouse.scores(key, "A", [2, 8])
    warehouse.scores(key, "JuDGE", [], evaluated=1)
    warehouse.summary(key, average=0.7)

    key = warehouse.group(
        "two protocols", protocols=f"{METRICS},{LLM_JUDGE}", n_predictions=2, n_evaluations=2, n_failed=0
    )
    warehouse.scores(key, "A", [2, 8], failed=False)
    warehouse.scores(key, "A", [0.5, None], protocol=LLM_JUDGE, failed=True)
    warehouse.summary(key, weighted_average=0.5)
    warehouse.summary(key, protocol=LLM_JUDGE, weighted_average=0.25)
    for index in range(2):
        warehouse.add("predictions", key, dataset="A", test_idx=index, response=f"answer {index}", response_chars=8,
                      prompt_chars=100, n_messages=3)  # fmt: skip

    key = warehouse.group("constants unknown", n_evaluations=3)
    warehouse.scores(key, "A", [2, 8])
    warehouse.scores(key, "new", [4])
    warehouse.summary(key, weighted_average=0.5)

    key = warehouse.group("flat", n_evaluations=2)
    warehouse.scores(key, "flat", [3, 4])

    key = warehouse.group("not finite", n_evaluations=6)
    warehouse.scores(key, "A", [2, 8, NAN, INF, -INF])
    warehouse.scores(key, "B", [5])

    key = warehouse.group("null score", n_evaluations=2)
    warehouse.scores(key, "A", [None, 8])

    key = warehouse.group("huge scores", n_evaluations=2)
    warehouse.scores(key, "A", [1e300, -1e300])

    key = warehouse.group("out of scale", n_evaluations=4)
    warehouse.scores(key, "A", [2, 8], out_of_scale=False)
    warehouse.scores(key, "B", [7], out_of_scale=True)
    warehouse.scores(key, "new", [4])

    key = warehouse.group("no evaluations")
    warehouse.scores(key, "A", [2, 8], evaluated=0, known=False)
    key = warehouse.group("evaluations are an empty list", n_evaluations=0)
    warehouse.scores(key, "A", [2, 8], evaluated=0, known=False)

    warehouse.group("nothing", protocols=None, status="partial")

    key = warehouse.group("invalid", "wo_memory", n_predictions=1, n_evaluations=1, n_failed=1, n_scores=1,
                          validity="invalid", validity_reasons="1 of 1 responses failed")  # fmt: skip
    warehouse.scores(key, "A", [0], failed=True)
    warehouse.summary(key, weighted_average=0, z_score=-2.5)

    key = warehouse.group("answers alone", protocols=METRICS, n_predictions=3, n_evaluations=1)
    warehouse.scores(key, "Locomo-3", [0.5], dataset_group="Locomo", failed=False)
    warehouse.add("evaluations", key, protocol=METRICS, dataset="JuDGE", test_idx=7)
    for dataset, index, failed in (("Locomo-3", 0, False), ("JuDGE", 7, True), ("Locomo-3", 1, True)):
        warehouse.add("predictions", key, dataset=dataset, test_idx=index, response="", failed_generation=failed)

    key = warehouse.group("scores of unknown samples")
    warehouse.scores(key, "A", [2], evaluated=2, known=False)
    warehouse.add("predictions", key, dataset="A", test_idx=0, response="yes", failed_generation=False)

    # What the views over statistics and findings read; tests/test_result_tables.py is about those views.
    warehouse.add("gain_tests", key, protocol=METRICS)
    warehouse.insert("findings", check="a check", severity="info")

    # Two backbones, two collections, three baselines: 12 combinations, 4 of them published.
    key = warehouse.group("coverage", n_predictions=1, n_evaluations=1, n_scores=1, validity="valid")
    warehouse.scores(key, "A", [2])
    warehouse.summary(key, weighted_average=0.2)
    warehouse.group("coverage", "mem0", status="quarantined", protocols=None)
    warehouse.group("coverage", "wo_memory", backbone="Qwen3-32B", status="stale", validity="invalid", n_predictions=0)
    warehouse.group("coverage", backbone="Qwen3-32B", split="task", collection="Short-Long", status="partial")

    key = warehouse.group("hostile", HOSTILE)
    warehouse.summary(key, weighted_average=0.1)
    key = warehouse.group("hostile", "it's a_mem")
    warehouse.summary(key, weighted_average=0.2)
    key = warehouse.group("hostile", "SPLIT")
    warehouse.summary(key, weighted_average=0.3)
    warehouse.group("hostile", "A_MEM")


@pytest.fixture(scope="module")
def warehouse() -> WarehouseRows:
    warehouse = WarehouseRows()
    _fill(warehouse)
    warehouse.create_views()
    return warehouse


RECOMPUTED = ("recomputed_average", "recomputed_weighted_average", "recomputed_z_score")


class TestResults:
    def test_a_complete_group_recomputes_what_is_published(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("results", experiment="complete")
        # A: m .2 .8 .5, mean .5; z -1.5 1.5 0. B: m 1, z 2. average (.5 + 1) / 2, the others over four samples.
        assert [row[name] for name in RECOMPUTED] == [0.75, 0.625, 0.5]
        assert (row["average"], row["weighted_average"], row["z_score"]) == (0.75, 0.625, 0.5)
        assert (row["n_samples"], row["n_scores"], row["n_not_finite"], row["every_score_published"]) == (4, 4, 0, True)
        assert (row["n_predictions"], row["n_failed"], row["failed_share"], row["n_failed_scores"]) == (4, 1, 0.25, 1)
        assert (row["status"], row["validity"], row["validity_reasons"]) == (
            "complete", "suspect", "1 of 4 responses failed",
        )  # fmt: skip
        assert (row["first_revision"], row["relative_dir"]) == ("r7", "some/where")
        assert (row["protocol"], row["group_id"]) == (METRICS, "complete/Qwen3-8B/domain/Legal/a_mem")

    def test_without_a_summary_nothing_is_invented(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("results", experiment="no summary")
        assert [row[name] for name in ("average", "weighted_average", "z_score", *RECOMPUTED)] == [None] * 6
        assert (row["n_samples"], row["n_scores"], row["every_score_published"]) == (2, 2, False)

    @pytest.mark.parametrize(
        ("experiment", "n_samples", "n_scores"),
        [
            ("one score missing", 4, 3),
            ("one dataset without scores", 3, 2),
            ("scores of unknown samples", 2, 1),
            ("evaluations are an empty list", None, 2),
        ],
    )
    def test_one_missing_score_leaves_the_recomputed_numbers_null(
        self, warehouse: WarehouseRows, experiment: str, n_samples: int | None, n_scores: int
    ) -> None:
        row = warehouse.row("results", experiment=experiment)
        assert [row[name] for name in RECOMPUTED] == [None] * 3
        assert (row["n_samples"], row["n_scores"], row["every_score_published"]) == (n_samples, n_scores, False)

    def test_a_published_number_stays_where_nothing_can_be_recomputed(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("results", experiment="one score missing")
        assert (row["average"], row["weighted_average"], row["z_score"]) == (0.7, 0.6, None)

    def test_published_scores_suffice_where_there_are_no_evaluations(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("results", experiment="no evaluations")
        assert [row[name] for name in RECOMPUTED] == [0.5, 0.5, 0]
        assert (row["n_samples"], row["n_scores"], row["n_predictions"]) == (None, 2, None)

    def test_two_protocols_have_a_row_each_and_never_mix(self, warehouse: WarehouseRows) -> None:
        columns = (
            "protocol",
            "weighted_average",
            "recomputed_weighted_average",
            "n_scores",
            "n_failed",
            "n_failed_scores",
        )
        assert warehouse.rows("results", *columns, experiment="two protocols") == [
            (LLM_JUDGE, 0.25, None, 2, 0, 2),  # the judge's constants are not published
            (METRICS, 0.5, 0.5, 2, 0, 0),
        ]

    def test_one_dataset_without_constants_leaves_the_recomputed_numbers_null(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("results", experiment="constants unknown")
        assert [row[name] for name in RECOMPUTED] == [None] * 3
        assert (row["weighted_average"], row["every_score_published"]) == (0.5, True)

    def test_a_score_that_is_not_finite_leaves_the_recomputed_numbers_null(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("results", experiment="not finite")
        assert [row[name] for name in RECOMPUTED] == [None] * 3
        assert (row["n_scores"], row["n_not_finite"], row["every_score_published"]) == (6, 3, False)

    def test_scores_out_of_scale_are_counted_and_stay_as_published(self, warehouse: WarehouseRows) -> None:
        columns = ("dataset_group", "n_out_of_scale", "mean", "recomputed_minmax_average")
        assert warehouse.rows("dataset_results", *columns, experiment="out of scale") == [
            ("A", 0, 5, 0.5),
            ("B", 1, 7, 1.5),
            ("new", None, 4, None),  # its range is unknown
        ]
        assert warehouse.rows("results", "n_out_of_scale", experiment="out of scale") == [(1,)]
        assert warehouse.rows("results", "n_out_of_scale", experiment="flat") == [(None,)]

    def test_a_published_null_counts_as_0_as_the_publisher_does(self, warehouse: WarehouseRows) -> None:
        # m 0 and .8, z -2.5 and 1.5.
        row = warehouse.row("results", experiment="null score")
        assert [row[name] for name in RECOMPUTED] == [0.4, 0.4, -0.5]

    def test_a_group_without_scores_has_one_row_without_numbers(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("results", experiment="nothing")
        numbers = ("average", "weighted_average", "z_score", *RECOMPUTED, "n_samples", "n_predictions", "failed_share")
        assert [row[name] for name in numbers] == [None] * 9
        assert (row["protocol"], row["status"], row["n_scores"], row["validity"]) == (None, "partial", 0, None)

    def test_an_invalid_group_stays_with_its_reason(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("results", experiment="invalid")
        assert (row["validity"], row["validity_reasons"]) == ("invalid", "1 of 1 responses failed")
        assert (row["z_score"], row["recomputed_z_score"], row["failed_share"]) == (-2.5, -2.5, 1)

    def test_every_group_is_there(self, warehouse: WarehouseRows) -> None:
        missing = "SELECT group_id FROM result_groups EXCEPT SELECT group_id FROM results"
        assert warehouse.connection.execute(missing).fetchall() == []


class TestDatasetResults:
    def test_mean_and_standard_error_are_those_of_the_scores(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("dataset_results", experiment="complete", dataset_group="A")
        # 2, 8, 5: squared deviations 9 + 9 + 0, over 2 is 9, so sd 3 and 3 / √3.
        assert (row["n"], row["mean"], row["standard_error"]) == (3, 5, pytest.approx(math.sqrt(3), rel=1e-12))
        assert (row["average"], row["minmax_average"], row["z_average"]) == (5, 0.5, 0)
        assert (row["recomputed_average"], row["recomputed_minmax_average"], row["recomputed_z_average"]) == (5, 0.5, 0)
        assert (row["recomputed_minmax_sum"], row["recomputed_z_sum"]) == (1.5, 0)
        assert (row["n_samples"], row["n_scores"], row["n_not_finite"], row["n_failed"]) == (3, 3, 0, 0)
        assert (row["min"], row["max"], row["mu"], row["sigma"]) == (0, 10, 5, 2)
        assert (row["origin"], row["every_score_published"], row["validity"]) == ("published", True, "suspect")

    def test_one_score_has_no_standard_error(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("dataset_results", experiment="complete", dataset_group="B")
        assert (row["n"], row["mean"], row["standard_error"], row["n_failed"]) == (1, 5, None, 1)
        assert (row["recomputed_minmax_average"], row["recomputed_z_average"]) == (1, 2)

    def test_derived_scores_have_a_mean_and_recompute_nothing(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("dataset_results", experiment="no summary")
        assert (row["origin"], row["n"], row["mean"]) == ("derived", 2, 5)
        assert (row["recomputed_average"], row["recomputed_minmax_average"], row["average"]) == (None, None, None)
        assert row["n_failed"] is None

    def test_completeness_is_judged_for_each_dataset(self, warehouse: WarehouseRows) -> None:
        columns = ("dataset_group", "n_samples", "n_scores", "every_score_published", "recomputed_minmax_average")
        assert warehouse.rows("dataset_results", *columns, experiment="one score missing") == [
            ("A", 3, 2, False, None),
            ("B", 1, 1, True, 1),
        ]
        assert warehouse.rows("dataset_results", *columns, experiment="one dataset without scores") == [
            ("A", 2, 2, True, 0.5),
            ("JuDGE", 1, 0, False, None),
        ]

    def test_a_dataset_without_constants_keeps_its_plain_mean(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("dataset_results", experiment="constants unknown", dataset_group="new")
        assert (row["recomputed_average"], row["recomputed_minmax_average"], row["recomputed_z_average"]) == (
            4,
            None,
            None,
        )
        assert (row["min"], row["max"], row["mu"], row["sigma"]) == (None, None, None, None)

    def test_equal_bounds_and_a_tiny_sigma_give_0(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("dataset_results", experiment="flat")
        assert (row["recomputed_minmax_average"], row["recomputed_z_average"], row["mean"]) == (0, 0, 3.5)

    def test_what_is_not_finite_is_left_out_and_counted(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("dataset_results", experiment="not finite", dataset_group="A")
        # 2 and 8 are left: sd √18, over √2 is 3.
        assert (row["n_scores"], row["n_not_finite"], row["n"], row["mean"]) == (5, 3, 2, 5)
        assert row["standard_error"] == pytest.approx(3, rel=1e-12)
        assert row["recomputed_average"] is None

    def test_a_null_counts_for_the_publisher_and_not_for_the_mean(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("dataset_results", experiment="null score")
        assert (row["n_scores"], row["recomputed_average"], row["n"], row["mean"]) == (2, 4, 1, 8)

    def test_scores_whose_squares_overflow_have_no_standard_error(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("dataset_results", experiment="huge scores")
        assert (row["n"], row["mean"], row["standard_error"]) == (2, 0, None)

    def test_constants_of_the_metrics_are_not_used_for_the_judge(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("dataset_results", experiment="two protocols", protocol=LLM_JUDGE)
        assert (row["min"], row["recomputed_minmax_average"], row["recomputed_average"]) == (None, None, 0.25)
        assert (row["n"], row["mean"], row["n_failed"]) == (1, 0.5, 2)


class TestSampleResults:
    def test_a_sample_scored_twice_has_two_rows_and_no_more(self, warehouse: WarehouseRows) -> None:
        columns = ("protocol", "dataset", "test_idx", "score", "minmax_score", "z", "failed", "response", "n_messages")
        assert warehouse.rows("sample_results", *columns, experiment="two protocols") == [
            (LLM_JUDGE, "A", 0, 0.5, None, None, True, "answer 0", 3),
            (LLM_JUDGE, "A", 1, None, None, None, True, "answer 1", 3),
            (METRICS, "A", 0, 2, 0.2, -1.5, False, "answer 0", 3),
            (METRICS, "A", 1, 8, 0.8, 1.5, False, "answer 1", 3),
        ]

    def test_a_sample_without_a_score_or_an_evaluation_has_one_row(self, warehouse: WarehouseRows) -> None:
        columns = ("dataset", "test_idx", "protocol", "dataset_group", "score", "failed", "failed_generation", "origin")
        assert warehouse.rows("sample_results", *columns, experiment="answers alone") == [
            ("JuDGE", 7, METRICS, "JuDGE", None, True, True, None),
            ("Locomo-3", 0, METRICS, "Locomo", 0.5, False, False, "published"),
            ("Locomo-3", 1, None, "Locomo", None, True, True, None),
        ]

    def test_a_score_of_an_unknown_sample_has_a_row_beside_the_samples(self, warehouse: WarehouseRows) -> None:
        columns = ("test_idx", "dataset", "protocol", "score", "score_position", "failed", "response")
        assert warehouse.rows("sample_results", *columns, experiment="scores of unknown samples") == [
            (0, "A", METRICS, None, None, False, "yes"),
            (1, "A", METRICS, None, None, None, None),
            (None, None, METRICS, 2, 0, None, None),
        ]

    def test_a_score_that_is_not_finite_stays_and_has_no_normalised_one(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("sample_results", "score", "minmax_score", "z", "is_finite",
                              experiment="not finite", dataset="A", order="test_idx")  # fmt: skip
        assert rows[:2] == [(2, 0.2, -1.5, True), (8, 0.8, 1.5, True)]
        assert math.isnan(rows[2][0])
        assert [row[1:] for row in rows[2:]] == [(None, None, False)] * 3

    def test_equal_bounds_and_a_tiny_sigma_give_0(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("sample_results", "score", "minmax_score", "z", experiment="flat")
        assert rows == [(3, 0, 0), (4, 0, 0)]

    def test_a_published_null_is_null_and_counts_as_0(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("sample_results", "test_idx", "score", "score_counted", "minmax_score", "z",
                              experiment="null score")  # fmt: skip
        assert rows == [(0, None, 0, 0, -2.5), (1, 8, 8, 0.8, 1.5)]


class TestCoverage:
    def test_every_combination_of_an_experiment_has_its_status(self, warehouse: WarehouseRows) -> None:
        columns = ("backbone", "collection", "baseline", "status", "load_status")
        assert warehouse.rows("coverage", *columns, experiment="coverage") == [
            ("Qwen3-32B", "Legal", "a_mem", "not_published", None),
            ("Qwen3-32B", "Legal", "mem0", "not_published", None),
            ("Qwen3-32B", "Legal", "wo_memory", "invalid", "stale"),
            ("Qwen3-32B", "Short-Long", "a_mem", "partial", "partial"),
            ("Qwen3-32B", "Short-Long", "mem0", "not_published", None),
            ("Qwen3-32B", "Short-Long", "wo_memory", "not_published", None),
            ("Qwen3-8B", "Legal", "a_mem", "complete", "complete"),
            ("Qwen3-8B", "Legal", "mem0", "quarantined", "quarantined"),
            ("Qwen3-8B", "Legal", "wo_memory", "not_published", None),
            ("Qwen3-8B", "Short-Long", "a_mem", "not_published", None),
            ("Qwen3-8B", "Short-Long", "mem0", "not_published", None),
            ("Qwen3-8B", "Short-Long", "wo_memory", "not_published", None),
        ]

    def test_it_says_what_a_group_has(self, warehouse: WarehouseRows) -> None:
        columns = ("has_predictions", "has_evaluations", "has_summary", "n_predictions", "n_evaluations", "n_scores")
        where = {"experiment": "coverage", "split": "domain"}
        assert warehouse.rows("coverage", *columns, **where, status="complete") == [(True, True, True, 1, 1, 1)]
        assert warehouse.rows("coverage", *columns, **where, status="invalid") == [(False, False, False, 0, None, None)]
        not_published = warehouse.rows("coverage", "group_id", *columns, **where, baseline="mem0", backbone="Qwen3-32B")
        assert not_published == [(None, False, False, False, None, None, None)]


class TestSummaryTables:
    def test_each_baseline_has_a_column_and_what_is_missing_is_null(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row(
            "summary_table_weighted_average", experiment="coverage", split="domain", backbone="Qwen3-8B"
        )
        assert (row["protocol"], row["a_mem"], row["mem0"], row["wo_memory"], row[HOSTILE]) == (
            METRICS, 0.2, None, None, None,
        )  # fmt: skip

    def test_two_protocols_have_a_row_each(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("summary_table_weighted_average", "protocol", "a_mem", experiment="two protocols")
        assert rows == [(LLM_JUDGE, 0.25), (METRICS, 0.5)]

    def test_each_metric_has_a_table(self, warehouse: WarehouseRows) -> None:
        assert warehouse.rows("summary_table_average", "a_mem", experiment="complete") == [(0.75,)]
        assert warehouse.rows("summary_table_z_score", "a_mem", experiment="complete") == [(0.5,)]

    def test_names_of_baselines_are_data(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("summary_table_weighted_average", experiment="hostile")
        assert (row[HOSTILE], row["it's a_mem"], row["split"], row["SPLIT (2)"]) == (0.1, 0.2, "domain", 0.3)
        assert row.keys() >= {"a_mem", "A_MEM (2)"}

    def test_a_collection_that_nobody_scored_has_no_row(self, warehouse: WarehouseRows) -> None:
        assert warehouse.rows("summary_table_average", "protocol", experiment="nothing") == []

    def test_columns_of_names_that_differ_in_case_alone_are_numbered(self) -> None:
        assert summary_table_columns(["a", "A", "A (2)", "Protocol"]) == {
            "A": "A (3)", "A (2)": "A (2)", "Protocol": "Protocol (2)", "a": "a",
        }  # fmt: skip


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "rows.duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS warehouse (STORAGE_VERSION '{STORAGE_VERSION}')")
        connection.execute("USE warehouse")
        warehouse = WarehouseRows(connection)
        _fill(warehouse)
        warehouse.create_views()
    return path


class TestDatabase:
    def test_views_answer_from_a_file_that_is_opened_read_only(self, database: Path) -> None:
        with duckdb.connect(str(database), read_only=True) as connection:
            counts = {
                view.name: connection.execute(f"SELECT count(*) FROM {quoted(view.name)}").fetchall()[0][0]
                for view in list_views()
            }
            hostile = f"SELECT {quoted(HOSTILE)} FROM summary_table_weighted_average WHERE experiment = 'hostile'"
            assert connection.execute(hostile).fetchall() == [(0.1,)]
        moved = counts.pop("revision_changes")  # nothing has moved in a first refresh
        assert moved == 0
        assert all(counts.values()), counts

    def test_every_view_and_column_has_its_comment(self, database: Path) -> None:
        views = list_views([HOSTILE, "a_mem"])
        with duckdb.connect(str(database), read_only=True) as connection:
            commented = dict(
                connection.execute("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall()
            )
            columns = connection.execute("SELECT table_name, column_name, comment FROM duckdb_columns()").fetchall()
        by_column = {(view, column): comment for view, column, comment in columns}
        assert commented.keys() == {view.name for view in views}
        for view in views:
            assert commented[view.name] == f"{view.meaning} Grain: {view.grain}."
            for column, meaning in view.columns.items():
                assert by_column[view.name, column] == meaning
        assert not [key for key, comment in by_column.items() if key[0] in commented and not comment]

    def test_no_view_has_a_column_of_a_type_that_no_table_has(self, database: Path) -> None:
        with duckdb.connect(str(database), read_only=True) as connection:
            names = [view.name for view in list_views()]
            types = connection.execute(
                "SELECT DISTINCT data_type FROM duckdb_columns() WHERE list_contains(?, table_name)", [names]
            ).fetchall()
        assert {name for (name,) in types} == {"VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"}

    def test_prompts_are_read_from_the_parquet_folder(self, database: Path, tmp_path: Path) -> None:
        key = GroupKey("off-policy", "Qwen3-8B", "domain", "Academic&Knowledge", "01")
        table = TABLES["prompts"]
        messages = [{"role": "user", "content": "Why?"}]
        row = {"group_id": key.group_id, "dataset": "JRE-L", "test_idx": 4, "messages": messages, "residue": None}
        file = partition_file(tmp_path, "prompts", key.partition_path)
        file.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist([row], schema=table.arrow_schema()), file)
        with duckdb.connect(str(database), read_only=True) as connection:
            cursor = connection.execute("SELECT * FROM prompts(?)", [str(tmp_path)])
            assert [column[0] for column in cursor.description] == [column.name for column in table.database_columns]
            assert cursor.fetchall() == [(*key, key.group_id, "JRE-L", 4, messages, None)]


class TestSqlFiles:
    def test_each_header_describes_the_columns_of_its_select(self) -> None:
        for file in [*list_views(["a_mem", HOSTILE]), *list_macros()]:
            file.check()

    def test_no_view_reads_more_than_tables_and_views(self) -> None:
        names = [view.name for view in in_order(list_views())]
        assert names.index("normalized_scores") < names.index("dataset_results") < names.index("results")

    def test_views_are_created_in_the_order_of_their_references(self, sql_folder: Callable[..., Path]) -> None:
        root = sql_folder(a="SELECT c.x FROM c", b="SELECT 1 AS x", c="WITH a AS (SELECT x FROM b) SELECT a.x FROM a")
        assert [view.name for view in in_order(list_views(root=root))] == ["b", "c", "a"]
        assert create_views(WarehouseRows().connection, root=root) == ["b", "c", "a"]

    @pytest.mark.parametrize(
        ("selects", "message"),
        [
            ({"a": "SELECT b.x FROM b", "b": "SELECT a.x FROM a"}, "sql/views/.*: views read one another: "),
            ({"a": "SELECT y.x FROM y"}, "sql/views/a.sql: it reads y, which is neither a table nor a view"),
            ({"findings": "SELECT 1 AS x"}, "sql/views/findings.sql: the name findings is taken"),
        ],
        ids=["a circle", "an unknown table", "a table's name"],
    )
    def test_references_that_cannot_be_are_refused(
        self, sql_folder: Callable[..., Path], selects: dict[str, str], message: str
    ) -> None:
        with pytest.raises(SqlFileError, match=message):
            in_order(list_views(root=sql_folder(**selects)))

    @pytest.mark.parametrize(
        ("select", "message"),
        [
            (
                "SELECT 1 AS x, 2 AS y",
                "sql/views/a.sql: header and SELECT disagree in columns: without a header line: y",
            ),
            ("SELECT 1 AS y", "without a header line: y; in the header alone: x"),
            ("SELECT * FROM findings", "every output column has to be listed"),
            ("SELECT 1 AS x FROM", "sql/views/a.sql: sqlglot cannot parse it"),
            ("DROP TABLE x", "sql/views/a.sql: it has to be one SELECT"),
        ],
    )
    def test_a_header_that_disagrees_with_the_select_is_refused(
        self, sql_folder: Callable[..., Path], select: str, message: str
    ) -> None:
        (view,) = list_views(root=sql_folder(a=select))
        with pytest.raises(SqlFileError, match=message):
            view.check()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("SELECT 1 AS x", "it has to start with a line"),
            ("-- a: It.\n-- grain: x\n", "to hold one SELECT"),
            ("-- a: It.\n-- column x: The x.\nSELECT 1 AS x", "the header lacks a line '-- grain"),
            ("-- a: It.\n-- grain: x\n-- severity: error\nSELECT 1 AS x", "header line not understood.*severity"),
            ("-- a: It.\n-- grain: x\n-- column x: 1.\n-- column x: 2.\nSELECT 1 AS x", "or there twice"),
            ("-- a(b): It.\n-- grain: x\nSELECT 1 AS x", "every parameter needs a line"),
            ("--   a: It.\nSELECT 1 AS x", "its first line is indented"),
        ],
    )
    def test_a_header_of_another_form_is_refused(self, text: str, message: str) -> None:
        with pytest.raises(SqlFileError, match=f"sql/views/a.sql: .*{message}"):
            parse_sql_file(text, "sql/views/a.sql", fields=("grain",))

    def test_a_header_may_have_other_lines_than_a_view(self) -> None:
        text = "-- a: no row is\n--   wrong.\n-- severity: error\n-- column x: The x.\nSELECT 1 AS x;\n"
        audit = parse_sql_file(text, "sql/audits/a.sql", fields=("severity",))
        assert (audit.name, audit.meaning, audit.fields) == ("a", "No row is wrong.", {"severity": "error"})
        assert (audit.columns, audit.sql) == ({"x": "The x."}, "SELECT 1 AS x")

    def test_a_file_has_the_name_of_its_view(self, sql_folder: Callable[..., Path]) -> None:
        root = sql_folder(a="SELECT 1 AS x")
        (root / "views" / "a.sql").rename(root / "views" / "b.sql")
        with pytest.raises(SqlFileError, match=r"sql/views/b.sql: the header calls it a"):
            list_views(root=root)


@pytest.fixture
def sql_folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes views of one column x with the SELECTs given, and returns the folder that stands for sql/."""

    def write(**selects: str) -> Path:
        (tmp_path / "views").mkdir()
        for name, select in selects.items():
            header = f"-- {name}: A view.\n-- grain: x\n-- column x: The x.\n"
            (tmp_path / "views" / f"{name}.sql").write_text(header + select, encoding="utf-8")
        return tmp_path

    return write
