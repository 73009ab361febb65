"""The standard result tables: a few rows each with the figures worked out by hand, and all of them once more over a
generated archive by other means (pandas over the JSON files, scipy, enumeration, a plain logistic regression)."""

from __future__ import annotations

import itertools
import json
import math
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pipelines.archive.groups import GroupKey
from pipelines.cli import main
from pipelines.commands.layouts import LAYOUTS, layout
from pipelines.commands.standard_tables import _best
from pipelines.load import statistics
from pipelines.load.database import fill_table
from pipelines.load.partitions import read_single
from pipelines.load.statistics import STATISTICS, write_statistics
from pipelines.load.views import list_views, quoted
from schemas import TABLES
from schemas.model import LLM_JUDGE, METRICS
from tests.built import warehouse_of
from tests.conftest import ROOT
from tests.handmade import A_MEM, WO_MEMORY, HandmadeArchive, as_sample, build
from tests.warehouse_rows import WarehouseRows

BROKEN = "Mistral-Small-3.2-24B-Instruct-2506"
LEGAL, OPEN, SHORT = ("domain", "Legal"), ("domain", "Open-Domain"), ("task", "Short-Long")
#: The standard tables and, where invalid groups can be put in, the views that have them.
SWITCHED = ("memory_gain", "collection_rankings", "leaderboard", "baseline_comparison")


def _constants(warehouse: WarehouseRows) -> None:
    for split, collection in (LEGAL, OPEN, SHORT):
        for name, low, high in (("A", 0, 10), ("B", 1, 5)):
            warehouse.insert("normalization", split=split, collection=collection, dataset_group=name, min=low, max=high,
                             mu=3, sigma=1)  # fmt: skip


def _system(
    warehouse: WarehouseRows,
    experiment: str,
    baseline: str,
    scores: dict[str, Sequence[float | None]],
    published: float | None = None,
    *,
    where: tuple[str, str] = LEGAL,
    backbone: str = "Q",
    protocol: str = METRICS,
    invalid: str | None = None,
    failed: Sequence[bool] = (),
    **values: Any,
) -> GroupKey:
    """A group with scores of its datasets' samples, and a published weighted_average."""
    key = warehouse.group(
        experiment,
        baseline,
        backbone=backbone,
        split=where[0],
        collection=where[1],
        protocols=protocol,
        validity="invalid" if invalid else "valid",
        validity_reasons=invalid,
        files=json.dumps([f"{experiment}{baseline}{backbone}{where}"]),
    )
    for name, of_dataset in scores.items():
        warehouse.scores(key, name, of_dataset, protocol=protocol, **({"failed": False} | values))
    for index, is_failed in enumerate(failed):
        warehouse.connection.execute(
            "UPDATE sample_scores SET failed = ? WHERE group_id = ? AND dataset = 'A' AND test_idx = ?",
            [is_failed, key.group_id, index],
        )
    if published is not None:
        warehouse.summary(key, protocol=protocol, weighted_average=published, z_score=published * 10)
    return key


def _fill(warehouse: WarehouseRows) -> None:
    """Each case is an experiment of its own, named after what is special about it."""
    _constants(warehouse)

    # m of wo_memory: A .2 .4, B 0 .5. a_mem: A .4 .8, B .5 0. d: A .2 .4, B .5 -.5; its first sample failed.
    _system(warehouse, "gain", "wo_memory", {"A": [2, 4], "B": [1, 3]}, 0.275)
    _system(warehouse, "gain", "a_mem", {"A": [4, 8], "B": [3, 1]}, 0.425, failed=[True])

    # mem0 answers what wo_memory does and one sample more.
    _system(warehouse, "family", "wo_memory", {"A": [2, 4, 6, 8]})
    _system(warehouse, "family", "a_mem", {"A": [3, 6, 7, 9]})  # d .1 .2 .1 .1
    _system(warehouse, "family", "mem0", {"A": [2, 4, 6, 8, 10]})
    _system(warehouse, "family", "uno", {"A": [0, 0, 1, 0]}, invalid="4 of 4 responses failed")

    _system(warehouse, "no reference is valid", "wo_memory", {"A": [0, 0]}, 0.0, invalid="2 of 2 responses failed")
    _system(warehouse, "no reference is valid", "a_mem", {"A": [4, 8]}, 0.6)
    _system(warehouse, "no reference", "a_mem", {"A": [4, 8]}, 0.6)
    _system(warehouse, "derived", "wo_memory", {"A": [2, 4]}, origin="derived")
    _system(warehouse, "derived", "a_mem", {"A": [4, 8]}, origin="derived")
    _system(warehouse, "judge", "wo_memory", {"A": [0.2, 0.4]}, protocol=LLM_JUDGE)
    _system(warehouse, "judge", "a_mem", {"A": [0.4, 0.8]}, protocol=LLM_JUDGE)
    _system(warehouse, "unknown dataset", "wo_memory", {"A": [2, 4], "new": [1, 1]})
    _system(warehouse, "unknown dataset", "a_mem", {"A": [4, 8], "new": [1, 2]})
    _system(warehouse, "null score", "wo_memory", {"A": [2, None, 4, 5]})
    _system(warehouse, "null score", "a_mem", {"A": [4, 9, None, 5]})
    _system(warehouse, "not finite", "wo_memory", {"A": [2, 4, 6]})
    _system(warehouse, "not finite", "a_mem", {"A": [4, math.nan, 8]})

    # Two backbones; ties; mem0 is not in Open-Domain, and uno answered nothing there.
    for backbone, shift in (("P", 0.0), ("Q", 0.1)):
        for where in (LEGAL, OPEN):
            _system(warehouse, "ranks", "a_mem", {"A": [6, 5]}, 0.5 + shift, where=where, backbone=backbone)
            _system(warehouse, "ranks", "wo_memory", {"A": [4, 5]}, 0.6, where=where, backbone=backbone)
        _system(warehouse, "ranks", "mem0", {"A": [9, 9]}, 0.9 + shift, backbone=backbone)
    _system(warehouse, "ranks", "uno", {"A": [1, 1]}, 0.1)
    _system(warehouse, "ranks", "uno", {"A": [0, 0]}, 0.95, where=OPEN, invalid="2 of 2 responses failed")
    _system(warehouse, "ranks", "light", {"A": [1, 1]}, math.inf)
    _system(warehouse, "ranks", "a_mem", {"A": [1]}, 0.3, where=SHORT)
    # P's a_mem answered both samples of both collections, one of them with null; Q's one of four; wo_memory of P has no
    # responses in Open-Domain.
    for backbone, baseline, collection, sizes in (
        ("P", "a_mem", "Legal", {0: (100, 10), 1: (200, None)}),
        ("P", "a_mem", "Open-Domain", {0: (600, 40), 1: (300, 70)}),
        ("P", "mem0", "Legal", {0: (100, 10), 1: (100, 10)}),
        ("P", "wo_memory", "Legal", {0: (50, 10), 1: (50, 10)}),
        ("Q", "a_mem", "Legal", {0: (100, 10)}),
    ):
        key = GroupKey("ranks", backbone, "domain", collection, baseline)
        for index, (prompt, response) in sizes.items():
            warehouse.add("predictions", key, dataset="A", test_idx=index, prompt_chars=prompt, response_chars=response)

    # Sample 2 is known of a_mem alone, so mem0 lacks it in Legal. In Short-Long scores say that there are three.
    for where, extra in ((LEGAL, {"evaluated": 3}), (OPEN, {})):
        key = _system(warehouse, "sizes", "a_mem", {"A": [6, 5]}, 0.5, where=where, **extra)
        for index in range(3):
            warehouse.add("predictions", key, dataset="A", test_idx=index, prompt_chars=10, response_chars=index)
        key = _system(warehouse, "sizes", "mem0", {"A": [6, 5]}, 0.4, where=where)
        for index in range(2 if where == LEGAL else 3):
            warehouse.add("predictions", key, dataset="A", test_idx=index, prompt_chars=20, response_chars=20)
    key = _system(warehouse, "sizes", "a_mem", {"A": [6, 5, 4]}, 0.5, where=SHORT, evaluated=0, known=False)
    for index in range(2):
        warehouse.add("predictions", key, dataset="A", test_idx=index, prompt_chars=10, response_chars=index)

    # Most groups of Legal have two samples. mem0 has a score too many and uno a response; light lacks one of everything,
    # and bm25 one of its responses.
    for baseline, n_scores, n_responses in (
        *(("a_mem", 2, 2), ("wo_memory", 2, 2), ("mem0", 3, 2), ("uno", 3, 3), ("light", 1, 1), ("bm25", 2, 1)),
        ("empty", 0, 0),
    ):
        key = _system(warehouse, "common size", baseline, {"A": [5] * n_scores}, 0.5)
        for index in range(n_responses):
            warehouse.add("predictions", key, dataset="A", test_idx=index, prompt_chars=10, response_chars=4)

    # One z of two collections is not finite.
    for number, z in enumerate((math.nan, math.inf, -math.inf, 3.0)):
        for where, published in ((LEGAL, z), (OPEN, 1.0)):
            key = _system(warehouse, "z", f"system {number}", {"A": [6, 5]}, where=where)
            warehouse.summary(key, protocol=METRICS, weighted_average=0.5, z_score=published)

    # What no mean of min-max scores can be, and the ends of what it can, of which one is a rounding too high.
    for baseline, published in (("high", 1.7), ("low", -0.1354), ("top", 1 + 1e-12), ("bottom", 0.0), ("mid", 0.5)):
        _system(warehouse, "out of range", baseline, {"A": [6, 5]}, published)
        _system(warehouse, "out of range", baseline, {"A": [6, 5]}, 0.5, where=OPEN)
    key = _system(warehouse, "out of range", "failed", {"A": [0, 0]}, -0.2, invalid="2 of 2 responses failed")
    warehouse.summary(key, protocol=METRICS, average=-3.0)

    # Three rows of two groups failed one expectation of the check, and six another, those of g/3 without a finding.
    for severity, group, dataset, index, message, n_rows in (
        ("warning", "g/1", "A", 0, "b", 1), ("warning", "g/1", None, None, "a", 4), ("error", "g/2", None, None, "c", 2),
        ("info", None, None, None, "d", 3), ("info", None, None, None, "e", 6),
    ):  # fmt: skip
        warehouse.insert("findings", check="scale", severity=severity, group_id=group, dataset=dataset, test_idx=index,
                         message=message, n_rows=n_rows)  # fmt: skip
    warehouse.insert("findings", check="suspect_group", severity="info", group_id="g/1", message="suspect")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> WarehouseRows:
    warehouse = WarehouseRows()
    _fill(warehouse)
    warehouse.create_views()
    folder = tmp_path_factory.mktemp("parquet")
    write_statistics(warehouse.connection, folder, None)
    for table in STATISTICS:
        fill_table(warehouse.connection, table, folder)
    return warehouse


class TestMemoryGain:
    def test_the_figures_of_four_samples(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("memory_gain", experiment="gain")
        # d .2 .4 .5 -.5: mean .15. Variances .02 and .5, so √(2·.02 + 2·.5) / 4. Sums of datasets .6 and 0, which lie
        # .3 and -.3 from two means, so √(2/1 · (.09 + .09)) / 4. Flipping signs: ±.6 in all four patterns.
        assert row["delta"] == pytest.approx(0.15, abs=1e-12)
        assert row["se_stratified"] == pytest.approx(math.sqrt(1.04) / 4, abs=1e-12)
        assert (row["df"], row["n_strata"], row["n_clusters"]) == (2, 2, 2)
        # t with 2 degrees of freedom: P(|T| > t) = 1 - t / √(2 + t²), so the quantile is .95 · √(2 / (1 - .95²)).
        half = 0.95 * math.sqrt(2 / (1 - 0.95**2)) * math.sqrt(1.04) / 4
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((0.15 - half, 0.15 + half), abs=1e-12)
        t = 0.15 / (math.sqrt(1.04) / 4)
        assert row["p_stratified"] == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)
        assert row["se_clustered"] == pytest.approx(0.15, abs=1e-12)
        assert (row["p_clustered"], row["p_min"], row["testable"], row["n_family"]) == (1, 0.5, False, 1)
        assert (row["n"], row["wins"], row["ties"], row["losses"]) == (4, 3, 0, 1)
        assert (row["n_failed_baseline"], row["n_failed_reference"], row["n_valid"]) == (1, 0, 3)
        assert row["delta_valid"] == pytest.approx(0.4 / 3, abs=1e-12)
        assert (row["on_these_datasets"], row["to_other_datasets"]) == ("not significant", "cannot tell")
        assert row["reference_group_id"] == "gain/Q/domain/Legal/wo_memory"

    def test_the_gain_is_the_difference_of_the_weighted_averages(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("memory_gain", experiment="gain")
        averages = dict(warehouse.rows("collection_rankings", "baseline", "weighted_average", experiment="gain"))
        assert averages["a_mem"] - averages["wo_memory"] == pytest.approx(row["delta"], abs=1e-12)

    def test_only_common_samples_count_and_only_valid_groups_are_a_family(self, warehouse: WarehouseRows) -> None:
        columns = ("baseline", "n", "wins", "ties", "n_family", "on_these_datasets", "p_stratified_holm")
        rows = warehouse.rows("memory_gain", *columns, experiment="family")
        # a_mem: d .1 .2 .1 .1, mean .125, sd .05, t = .125 / .025 = 5 with 3 degrees of freedom; mem0: no spread.
        p = rows[0][-1]
        assert p == pytest.approx(0.015392438, abs=1e-8)
        assert rows == [
            ("a_mem", 4, 4, 0, 2, "better", p),
            ("mem0", 4, 0, 4, 2, "cannot tell", None),
            ("uno", None, None, None, None, None, None),
        ]

    @pytest.mark.parametrize(
        ("experiment", "baseline", "why"),
        [
            ("family", "uno", "uno is invalid: 4 of 4 responses failed"),
            ("no reference is valid", "a_mem", "wo_memory is invalid: 2 of 2 responses failed"),
            ("no reference", "a_mem", "there is no wo_memory to compare with"),
            ("derived", "a_mem", "no sample has a published score on both sides"),
            ("judge", "a_mem", "the normalisation constants are not known"),
            ("unknown dataset", "a_mem", "the normalisation constants of new are not known"),
        ],
    )
    def test_a_gain_that_means_nothing_is_left_out_with_the_reason(
        self, warehouse: WarehouseRows, experiment: str, baseline: str, why: str
    ) -> None:
        row = warehouse.row("memory_gain", experiment=experiment, baseline=baseline)
        named = {"experiment", "backbone", "split", "collection", "baseline", "group_id", "protocol"}
        assert {name for name, value in row.items() if value is not None} - named <= {"excluded", "reference_group_id"}
        assert row["excluded"] == why

    def test_invalid_groups_can_be_put_in(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("memory_gain_all", experiment="no reference is valid")
        assert (row["delta"], row["n"], row["n_family"], row["p_stratified_holm"]) == (pytest.approx(0.6), 2, 0, None)
        assert row["excluded"] == "wo_memory is invalid: 2 of 2 responses failed"

    def test_a_null_is_no_score_and_what_is_not_finite_is_counted(self, warehouse: WarehouseRows) -> None:
        columns = ("n", "n_not_finite", "delta", "ties")
        assert warehouse.rows("memory_gain", *columns, experiment="null score") == [(2, 0, pytest.approx(0.1), 1)]
        assert warehouse.rows("memory_gain", *columns, experiment="not finite") == [(2, 1, pytest.approx(0.2), 0)]


class TestCollectionRankings:
    COLUMNS = ("rank", "backbone", "baseline", "weighted_average", "z_score", "n_ranked", "excluded")

    def test_ties_share_a_rank_and_the_next_is_left_out(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("collection_rankings", *self.COLUMNS, experiment="ranks", collection="Legal")
        assert rows == [
            (1, "Q", "mem0", 1.0, 10, 7, None),
            (2, "P", "mem0", 0.9, 9, 7, None),
            (3, "P", "wo_memory", 0.6, 6, 7, None),
            (3, "Q", "a_mem", 0.6, 6, 7, None),
            (3, "Q", "wo_memory", 0.6, 6, 7, None),
            (6, "P", "a_mem", 0.5, 5, 7, None),
            (7, "Q", "uno", 0.1, 1, 7, None),
            (None, "Q", "light", None, None, 7, "no finite weighted_average is published"),
        ]

    def test_an_invalid_group_has_no_rank_and_no_number(self, warehouse: WarehouseRows) -> None:
        row = warehouse.row("collection_rankings", experiment="ranks", collection="Open-Domain", baseline="uno")
        assert [row[name] for name in ("rank", "weighted_average", "z_score", "rating", "rank_low")] == [None] * 5
        assert row["excluded"] == "invalid: 2 of 2 responses failed"
        assert row["rating_pool"] == "not rated: the group is invalid: 2 of 2 responses failed"

    def test_invalid_groups_can_be_put_in(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("collection_rankings_all", *self.COLUMNS, "rating", experiment="ranks",
                              collection="Open-Domain", order="rank, backbone LIMIT 2")  # fmt: skip
        assert rows[0] == (1, "Q", "uno", 0.95, 9.5, 5, None, None)
        assert rows[1][:3] == (2, "P", "wo_memory")

    def test_a_lone_pair_is_rated_by_hand(self, warehouse: WarehouseRows) -> None:
        # a_mem wins 3 of 4 and loses 1; with the pseudo-tie 3.5 of 5, so 400 · log10(3.5 / 1.5) apart around 1000.
        apart = 400 * math.log10(3.5 / 1.5)
        rows = warehouse.rows("collection_rankings", "baseline", "rating", "rating_rank", experiment="gain")
        assert rows == [
            ("a_mem", pytest.approx(1000 + apart / 2, abs=1e-6), 1),
            ("wo_memory", pytest.approx(1000 - apart / 2, abs=1e-6), 2),
        ]

    def test_the_judge_rates_where_it_cannot_tell_a_gain(self, warehouse: WarehouseRows) -> None:
        apart = 400 * math.log10(2.5 / 0.5)
        rows = warehouse.rows("collection_rankings", "protocol", "baseline", "rating", experiment="judge")
        assert rows[0] == (LLM_JUDGE, "a_mem", pytest.approx(1000 + apart / 2, abs=1e-6))

    def test_derived_scores_are_not_rated(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("collection_rankings", "rating", "rating_pool", experiment="derived")
        why = "not rated: no usable scores of single samples are published"
        assert rows == [(None, why)] * 2
        assert set(warehouse.rows("leaderboard", "rating", "rating_pool", experiment="derived")) == {(None, why)}

    def test_ratings_say_how_they_were_made(self, warehouse: WarehouseRows) -> None:
        (row,) = warehouse.rows("ratings", "pool", "tie_rule", "n_draws", "n_samples", "n_comparisons", "n_pool",
                                experiment="gain", baseline="a_mem", collection="Legal")  # fmt: skip
        assert row == (
            "2 systems on 4 samples",
            "scores that differ by at most 1e-09 count half; 1 tie added for each pair that met",
            1000, 4, 4, 2,
        )  # fmt: skip

    def test_a_mean_that_cannot_be_is_shown_and_not_ranked(self, warehouse: WarehouseRows) -> None:
        why = "the published weighted_average is outside of 0 to 1"
        columns = ("baseline", "rank", "n_ranked", "weighted_average", "z_score", "excluded")
        where = {"experiment": "out of range", "collection": "Legal"}
        assert warehouse.rows("collection_rankings", *columns, **where) == [
            ("bottom", 3, 3, 0.0, 0, None),
            ("failed", None, 3, None, None, "invalid: 2 of 2 responses failed"),
            ("high", None, 3, 1.7, None, why),
            ("low", None, 3, -0.1354, None, why),
            ("mid", 2, 3, 0.5, 5, None),
            ("top", 1, 3, 1 + 1e-12, pytest.approx(10), None),
        ]
        found = warehouse.rows("collection_rankings_all", *columns, **where, baseline="failed")
        assert found == [("failed", None, 3, -0.2, None, why)]

    def test_what_cannot_be_a_mean_is_counted_beside_the_numbers(self, warehouse: WarehouseRows) -> None:
        columns = ("baseline", "weighted_average", "average", "n_means_out_of_range")
        rows = warehouse.rows("results", *columns, experiment="out of range", collection="Legal")
        assert rows == [
            ("bottom", 0.0, None, 0), ("failed", -0.2, -3.0, 2), ("high", 1.7, None, 1), ("low", -0.1354, None, 1),
            ("mid", 0.5, None, 0), ("top", 1 + 1e-12, None, 0),
        ]  # fmt: skip
        # What is not finite is told elsewhere.
        row = warehouse.row("results", experiment="ranks", baseline="light")
        assert (row["weighted_average"], row["n_means_out_of_range"]) == (math.inf, 0)


class TestLeaderboard:
    COLUMNS = (
        "backbone",
        "baseline",
        "rank",
        "mean_weighted_average",
        "mean_rank",
        "n_collections",
        "missing_collections",
    )

    def test_only_systems_with_every_collection_are_ranked(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("leaderboard", *self.COLUMNS, experiment="ranks", split="domain")
        # Ranks in Legal and Open-Domain: P a_mem 6 and 4; Q a_mem 3 and 1; wo_memory 3 and 1.
        assert rows == [
            ("P", "a_mem", 4, 0.5, 5, 2, None),
            ("P", "mem0", None, None, None, 1, "Open-Domain (not published)"),
            ("P", "wo_memory", 1, 0.6, 2, 2, None),
            ("Q", "a_mem", 1, 0.6, 2, 2, None),
            ("Q", "light", None, None, None, 0,
             "Legal (no finite weighted_average is published), Open-Domain (not published)"),
            ("Q", "mem0", None, None, None, 1, "Open-Domain (not published)"),
            ("Q", "uno", None, None, None, 1, "Open-Domain (invalid: 2 of 2 responses failed)"),
            ("Q", "wo_memory", 1, 0.6, 2, 2, None),
        ]  # fmt: skip

    def test_each_split_is_ranked_for_itself(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("leaderboard", *self.COLUMNS, "n_ranked", experiment="ranks", split="task")
        assert rows == [("Q", "a_mem", 1, 0.3, 1, 1, None, 1)]

    def test_invalid_groups_can_be_put_in(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("leaderboard_all", *self.COLUMNS, experiment="ranks", baseline="uno")
        # Alone at the top of Open-Domain and last in Legal: all others move down by one in Open-Domain.
        assert rows == [("Q", "uno", 4, pytest.approx(0.525), 4, 2, None)]

    def test_a_mean_that_cannot_be_leads_nothing(self, warehouse: WarehouseRows) -> None:
        columns = ("baseline", "rank", "mean_weighted_average", "mean_z_score", "missing_collections")
        why = "Legal (the published weighted_average is outside of 0 to 1)"
        assert warehouse.rows("leaderboard", *columns, experiment="out of range") == [
            ("bottom", 3, 0.25, 2.5, None),
            ("failed", None, None, None, "Legal (invalid: 2 of 2 responses failed), Open-Domain (not published)"),
            ("high", None, None, None, why),
            ("low", None, None, None, why),
            ("mid", 2, 0.5, 5, None),
            ("top", 1, pytest.approx(0.75), pytest.approx(7.5), None),
        ]

    def test_where_nobody_is_ranked_it_says_so(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("leaderboard", "rank", "missing_collections", experiment="derived")
        assert rows == [(None, "no system is ranked in any collection")] * 2

    def test_sizes_are_means_over_samples(self, warehouse: WarehouseRows) -> None:
        columns = ("mean_prompt_chars", "mean_response_chars")
        where = {"experiment": "ranks", "split": "domain", "backbone": "P"}
        # (100 + 200 + 600 + 300) / 4, and (10 + 40 + 70) / 3 without the null.
        assert warehouse.rows("leaderboard", *columns, **where, baseline="a_mem") == [(300, 40)]
        assert warehouse.rows("leaderboard", *columns, **where, baseline="mem0") == [(None, None)]

    def test_sizes_need_as_many_responses_as_most_groups_have_samples(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("leaderboard", "baseline", "mean_prompt_chars", experiment="common size")
        assert rows == [
            ("a_mem", 10), ("bm25", None), ("empty", None), ("light", None), ("mem0", 10), ("uno", 10),
            ("wo_memory", 10),
        ]  # fmt: skip

    def test_a_mean_of_z_is_of_finite_numbers(self, warehouse: WarehouseRows) -> None:
        rows = warehouse.rows("leaderboard", "baseline", "mean_weighted_average", "mean_z_score", experiment="z")
        unknown = [(f"system {number}", 0.5, None) for number in range(3)]
        assert rows == [*unknown, ("system 3", 0.5, 2.0)]
        rows = warehouse.rows("collection_rankings", "baseline", "z_score", experiment="z", collection="Legal")
        assert rows == [*((name, None) for name, *_ in unknown), ("system 3", 3.0)]

    def test_sizes_of_a_part_of_the_samples_are_not_shown(self, warehouse: WarehouseRows) -> None:
        columns = ("backbone", "baseline", "mean_prompt_chars", "mean_response_chars")
        rows = warehouse.rows("leaderboard", *columns, experiment="ranks", split="domain")
        assert [row for row in rows if row[2:] != (None, None)] == [("P", "a_mem", 300, 40)]
        # mem0 lacks a sample that a_mem has.
        assert warehouse.rows("leaderboard", *columns, experiment="sizes", split="domain") == [
            ("Q", "a_mem", 10, 1), ("Q", "mem0", None, None),
        ]  # fmt: skip
        # Three scores, two responses.
        assert warehouse.rows("leaderboard", *columns, experiment="sizes", split="task") == [("Q", "a_mem", None, None)]

    def test_the_overall_rating_is_the_mean_of_the_collections(self, warehouse: WarehouseRows) -> None:
        where = {"experiment": "ranks", "split": "domain", "backbone": "P", "baseline": "a_mem"}
        row = warehouse.row("leaderboard", **where)
        of_collections = warehouse.rows("collection_rankings", "rating", **where)
        assert row["rating"] == pytest.approx(sum(rating for (rating,) in of_collections) / 2, abs=1e-6)
        assert row["rating_pool"] == "4 systems over Legal, Open-Domain"
        assert warehouse.row("leaderboard", **where | {"baseline": "mem0"})["rating"] is None


class TestBaselineComparison:
    def test_samples_are_compared_within_their_backbone(self, warehouse: WarehouseRows) -> None:
        columns = ("baseline", "other_baseline", "n_backbones", "n_samples", "wins", "ties", "losses", "win_share")
        rows = warehouse.rows("baseline_comparison", *columns, experiment="ranks", collection="Open-Domain")
        # On each backbone a_mem 6 5 against wo_memory 4 5: one win, one tie.
        assert rows == [
            ("a_mem", "uno", 0, 0, None, None, None, None),
            ("a_mem", "wo_memory", 2, 4, 2, 2, 0, 0.75),
            ("uno", "wo_memory", 0, 0, None, None, None, None),
        ]

    def test_what_is_left_out_is_named(self, warehouse: WarehouseRows) -> None:
        where = {"experiment": "ranks", "collection": "Open-Domain", "other_baseline": "uno"}
        row = warehouse.row("baseline_comparison", **where)
        assert (row["n_excluded"], row["excluded"]) == (1, "Q (uno invalid: 2 of 2 responses failed)")
        row = warehouse.row("baseline_comparison_all", **where)
        assert (row["n_backbones"], row["wins"], row["n_excluded"], row["excluded"]) == (1, 2, 0, None)

    def test_nulls_and_infinities_are_not_compared(self, warehouse: WarehouseRows) -> None:
        columns = ("n_samples", "wins", "ties", "losses")
        assert warehouse.rows("baseline_comparison", *columns, experiment="null score") == [(2, 1, 1, 0)]
        assert warehouse.rows("baseline_comparison", *columns, experiment="not finite") == [(2, 2, 0, 0)]


class TestDataQuality:
    def test_each_check_has_its_gravest_severity_and_counts(self, warehouse: WarehouseRows) -> None:
        columns = ("check", "severity", "n_groups", "n_rows", "n_findings", "n_errors", "n_warnings", "n_infos",
                   "example")  # fmt: skip
        assert warehouse.rows("data_quality", *columns) == [
            ("scale", "error", 2, 9, 5, 1, 2, 2, "a"),
            ("suspect_group", "info", 1, None, 1, 0, 0, 1, "suspect"),
        ]


class TestStatistics:
    """What is computed at build time, and when it is not."""

    @pytest.fixture
    def rows(self, monkeypatch: pytest.MonkeyPatch) -> WarehouseRows:
        rows = WarehouseRows()
        _constants(rows)
        for backbone in ("P", "Q"):
            for split in (LEGAL, SHORT):
                _system(rows, "e", "wo_memory", {"A": [2, 4]}, where=split, backbone=backbone)
                _system(rows, "e", "a_mem", {"A": [4, 5]}, where=split, backbone=backbone)
        rows.create_views()
        self.computed: list[tuple[str, ...]] = []
        for name in ("gain_rows", "rating_rows"):
            monkeypatch.setattr(statistics, name, self._noting(getattr(statistics, name)))
        return rows

    def _noting(self, function: Any) -> Any:
        def noted(key: tuple[str, ...], *arguments: Any) -> Any:
            self.computed.append(tuple(key))
            return function(key, *arguments)

        return noted

    def test_only_what_changed_is_computed_and_the_rest_is_the_same(self, rows: WarehouseRows, tmp_path: Path) -> None:
        write_statistics(rows.connection, tmp_path / "1", None)
        assert len(self.computed) == 4 + 2
        self.computed.clear()
        write_statistics(rows.connection, tmp_path / "2", tmp_path / "1")
        assert self.computed == []
        rows.connection.execute(
            "UPDATE result_groups SET files = '[\"other\"]' "
            "WHERE backbone = 'Q' AND split = 'task' AND baseline = 'a_mem'"
        )
        rows.connection.execute(
            "UPDATE sample_scores SET score = 9, score_counted = 9 "
            "WHERE backbone = 'Q' AND split = 'task' AND baseline = 'a_mem'"
        )
        write_statistics(rows.connection, tmp_path / "3", tmp_path / "2")
        assert self.computed == [("e", "Q", "task", "Short-Long", METRICS), ("e", "task", METRICS)]
        write_statistics(rows.connection, tmp_path / "4", None)
        for table in STATISTICS:
            first, second, third, fourth = (read_single(tmp_path / name, table) for name in "1234")
            assert first == second
            assert third == fourth != first

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE result_groups SET validity = 'invalid' WHERE backbone = 'Q' AND baseline = 'wo_memory'",
            "DELETE FROM result_groups WHERE backbone = 'Q' AND baseline = 'wo_memory'",
        ],
        ids=["a group becomes invalid", "a group is gone"],
    )
    def test_a_change_of_the_groups_themselves_is_a_change(
        self, rows: WarehouseRows, tmp_path: Path, change: str
    ) -> None:
        write_statistics(rows.connection, tmp_path / "1", None)
        self.computed.clear()
        rows.connection.execute(change)
        write_statistics(rows.connection, tmp_path / "2", tmp_path / "1")
        assert {key[1] for key in self.computed} == {"Q", "domain", "task"}
        deltas = {
            row["backbone"]: row["excluded"] for row in read_single(tmp_path / "2", TABLES["gain_tests"]).to_pylist()
        }
        assert deltas["P"] is None and deltas["Q"] is not None


# The same once more, by other means -----------------------------------------------------------------------------------


KEYS = list(GroupKey._fields)


class Published:
    """A generated archive read with `json` alone: a frame of samples, one of groups, and the constants."""

    def __init__(self, root: Path, constants: Path) -> None:
        reference = json.loads(constants.read_text(encoding="utf-8"))
        samples, groups, answers = [], [], []
        for line in (root / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            keys = [entry[name] for name in ("exp", "model", "dataset_type", "set_name", "baseline")]
            summary, details, predictions = (
                json.loads((root / entry["relative_dir"] / name).read_text(encoding="utf-8"))
                for name in ("summary.json", "evaluate_details.json", "predict.json")
            )
            failed = {
                (p["dataset"], p["test_idx"]): p["response"].strip() in ("", "Error: Unable to generate response.")
                for p in predictions
            }
            limits = reference[keys[2]][keys[3]]["summary"]
            of_group: dict[str, list[tuple[str, int]]] = {}
            for name, index in sorted((d["dataset"], d["test_idx"]) for d in details):
                of_group.setdefault("Locomo" if name.startswith("Locomo") else name, []).append((name, index))
            answers += [
                (*keys, p["dataset"], p["test_idx"], p["response"], len(p["messages"]),
                 sum(len(message["content"]) for message in p["messages"]))
                for p in predictions
            ]  # fmt: skip
            for group, published in summary["details"].items():
                low, high, mu, sigma = (limits[f"dataset_{name}"][group] for name in ("min", "max", "mu", "sigma"))
                for (name, index), score in zip(of_group[group], published, strict=True):
                    m = 0.0 if high == low else (score - low) / (high - low)
                    z = 0.0 if sigma <= 1e-6 else (score - mu) / sigma
                    samples.append((*keys, group, name, index, float(score), m, z, failed[name, index]))
            invalid = sum(failed.values()) > len(failed) / 2
            numbers = (summary["summary"][metric] for metric in ("average", "weighted_average", "z_score"))
            groups.append((*keys, *numbers, invalid, sum(failed.values())))
        columns = ("group", "dataset", "test_idx", "score", "m", "z", "failed")
        self.samples = pd.DataFrame(samples, columns=[*KEYS, *columns])
        self.groups = pd.DataFrame(
            groups, columns=[*KEYS, "average", "weighted_average", "z_score", "invalid", "n_failed"]
        )
        self.answers = pd.DataFrame(
            answers, columns=[*KEYS, "dataset", "test_idx", "response", "n_messages", "prompt_chars"]
        )
        self.valid = self.groups[~self.groups["invalid"]]
        keys_of_valid = self.valid[KEYS]
        self.valid_samples = self.samples.merge(keys_of_valid, on=KEYS)


@pytest.fixture(scope="module")
def archive(make_archive: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two backbones with several samples of most datasets. One wo_memory answered nothing but the error text, and one
    system failed on some samples."""
    root = tmp_path_factory.mktemp("archives") / "archive"
    shutil.copytree(make_archive("--models", "2", "--samples", "0.08"), root)
    for baseline, share in (("wo_memory", 1.0), ("a_mem", 0.4)):
        path = root / f"off-policy-{BROKEN}" / "task" / "Short-Long" / baseline / "predict.json"
        records = json.loads(path.read_text(encoding="utf-8"))
        for record in records[: int(len(records) * share)]:
            record["response"] = "Error: Unable to generate response."
        path.write_text(json.dumps(records), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def published(archive: Path, archives: Path) -> Published:
    return Published(archive, archives.parent / "reference" / "normalization.json")


@pytest.fixture(scope="module")
def built(archive: Path) -> Path:
    return warehouse_of(archive)


@pytest.fixture(scope="module")
def database(built: Path) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(built / "memorybench.duckdb"), read_only=True)


def _holm(p_values: Sequence[float]) -> list[float]:
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    for rank, i in enumerate(order):
        adjusted[i] = max(min(1.0, (len(order) - earlier) * p_values[j]) for earlier, j in enumerate(order[: rank + 1]))
    return adjusted


def _flips(sums: np.ndarray) -> float:
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(sums) - 1)))
    # The first sign stays: each pattern and its mirror image reach the threshold together.
    totals = np.abs(sums[0] + signs @ sums[1:]) if len(sums) > 1 else np.abs(sums)
    return float((totals >= abs(sums.sum()) - 1e-12).mean())


def _same(ours: pd.Series, theirs: pd.Series) -> None:
    """Both hold the same rows, in whatever order, with numbers that agree to 1e-9 and gaps in the same places."""
    assert len(ours) == len(theirs)
    left, right = ours.sort_index(), theirs.sort_index()
    assert left.index.equals(right.index)
    assert np.allclose(left.astype(float), right.astype(float), rtol=0, atol=1e-9, equal_nan=True), ours.name


class TestAgainstAnotherComputation:
    def test_results(self, published: Published, database: duckdb.DuckDBPyConnection) -> None:
        stored = database.execute("SELECT * FROM results").df().set_index(KEYS)
        groups = published.groups.set_index(KEYS)
        for name in ("average", "weighted_average", "z_score", "n_failed"):
            _same(stored[name], groups[name])
        by_group = published.samples.groupby(KEYS)
        _same(stored["n_samples"], by_group.size())
        _same(stored["recomputed_weighted_average"], by_group["m"].mean())
        _same(stored["recomputed_z_score"], by_group["z"].mean())
        of_datasets = published.samples.groupby([*KEYS, "group"])["m"].mean()
        _same(stored["recomputed_average"], of_datasets.groupby(KEYS).mean())
        assert ((stored["validity"] == "invalid").sort_index() == groups["invalid"].sort_index()).all()
        assert groups["invalid"].sum() == 1 and groups["n_failed"].gt(0).sum() > 1

    def test_dataset_results(self, published: Published, database: duckdb.DuckDBPyConnection) -> None:
        keys = [*KEYS, "group"]
        stored = database.execute("SELECT * FROM dataset_results").df()
        stored = stored.rename(columns={"dataset_group": "group"}).set_index(keys)
        of_dataset = published.samples.groupby(keys)
        _same(stored["n"], of_dataset.size())
        for name, expected in (
            ("mean", of_dataset["score"].mean()),
            ("average", of_dataset["score"].mean()),
            ("recomputed_average", of_dataset["score"].mean()),
            ("minmax_average", of_dataset["m"].mean()),
            ("recomputed_minmax_average", of_dataset["m"].mean()),
            ("recomputed_minmax_sum", of_dataset["m"].sum()),
            ("z_average", of_dataset["z"].mean()),
            ("recomputed_z_average", of_dataset["z"].mean()),
            ("recomputed_z_sum", of_dataset["z"].sum()),
            ("n_failed", of_dataset["failed"].sum()),
        ):
            _same(stored[name], expected)
        assert (stored["n_out_of_scale"] == 0).all()  # and see test_result_tables_archives.py
        errors = {key: stats.sem(of["score"], ddof=1) for key, of in of_dataset if len(of) > 1}
        _same(stored["standard_error"].dropna(), pd.Series(errors))

    def test_sample_results(self, published: Published, database: duckdb.DuckDBPyConnection) -> None:
        keys = [*KEYS, "dataset", "test_idx"]
        stored = database.execute("SELECT * FROM sample_results").df().set_index(keys)
        samples, answers = (frame.set_index(keys) for frame in (published.samples, published.answers))
        for ours, theirs in (("score", "score"), ("minmax_score", "m"), ("z", "z"), ("failed", "failed")):
            _same(stored[ours], samples[theirs])
        for name in ("n_messages", "prompt_chars"):
            _same(stored[name], answers[name])
        _same(stored["response_chars"], answers["response"].str.len())
        assert (stored["response"].sort_index() == answers["response"].sort_index()).all()

    @pytest.mark.parametrize("metric", ["average", "weighted_average", "z_score"])
    def test_summary_tables(self, published: Published, database: duckdb.DuckDBPyConnection, metric: str) -> None:
        rows = ["experiment", "backbone", "split", "collection"]
        stored = database.execute(f"SELECT * EXCLUDE protocol FROM summary_table_{metric}").df().set_index(rows)
        expected = published.groups.pivot(index=rows, columns="baseline", values=metric)
        assert sorted(stored.columns) == sorted(expected.columns)
        assert expected.isna().any().any()  # mem0 is not in every collection
        for baseline in expected.columns:
            _same(stored[baseline], expected[baseline])

    def test_coverage(self, published: Published, database: duckdb.DuckDBPyConnection) -> None:
        stored = database.execute("SELECT * FROM coverage").df().set_index(KEYS)
        groups = published.groups
        places = groups[["split", "collection"]].drop_duplicates().itertuples(index=False)
        spanned = itertools.product(groups["backbone"].unique(), places, groups["baseline"].unique())
        invalid = groups.set_index(KEYS)["invalid"].to_dict()
        expected = {
            key: "not_published" if key not in invalid else "invalid" if invalid[key] else "complete"
            for key in (("off-policy", backbone, *place, baseline) for backbone, place, baseline in spanned)
        }
        assert stored["status"].to_dict() == expected
        assert set(expected.values()) == {"not_published", "invalid", "complete"}

    def test_data_quality(self, published: Published, database: duckdb.DuckDBPyConnection) -> None:
        stored = dict(database.execute('SELECT "check", n_groups FROM data_quality').fetchall())
        groups = published.groups
        assert stored["invalid_group"] == groups["invalid"].sum()
        assert stored["suspect_group"] == (groups["n_failed"].gt(0) & ~groups["invalid"]).sum()

    def test_sizes_and_overall_ratings_of_the_leaderboard(
        self, published: Published, database: duckdb.DuckDBPyConnection
    ) -> None:
        system = ["split", "backbone", "baseline"]
        board = database.execute("SELECT * FROM leaderboard WHERE rank IS NOT NULL").df().set_index(system)
        answers = published.answers.assign(response_chars=published.answers["response"].str.len())
        means = answers.groupby(system)[["prompt_chars", "response_chars"]].mean().loc[board.index]
        _same(board["mean_prompt_chars"], means["prompt_chars"])
        _same(board["mean_response_chars"], means["response_chars"])
        ratings = database.execute("SELECT * FROM ratings WHERE collection IS NULL").df().set_index(system)
        for ours, theirs in (("rating", "rating"), ("rating_low", "rating_low"), ("rank_high", "rank_high")):
            _same(board[ours], ratings.loc[board.index, theirs])

    def test_gains(self, published: Published, database: duckdb.DuckDBPyConnection) -> None:
        family = ["experiment", "backbone", "split", "collection"]
        stored = (
            database.execute("SELECT * FROM memory_gain WHERE excluded IS NULL").df().set_index([*family, "baseline"])
        )
        reference = published.valid_samples.query("baseline == 'wo_memory'")
        others = published.valid_samples.query("baseline != 'wo_memory'")
        paired = others.merge(reference, on=[*family, "group", "dataset", "test_idx"], suffixes=("", "_r"))
        paired["d"] = paired["m"] - paired["m_r"]
        n_checked, n_tested = 0, 0
        for _, of_family in paired.groupby(family):
            p_values: dict[tuple[str, ...], float] = {}
            flips: dict[tuple[str, ...], float] = {}
            for key, rows in of_family.groupby([*family, "baseline"]):
                row = stored.loc[key]
                n_checked += 1
                d = rows["d"]
                valid = d[~(rows["failed"] | rows["failed_r"])]
                assert row["n"] == len(d)
                assert row["delta"] == pytest.approx(d.mean(), abs=1e-9)
                assert row["delta_valid"] == pytest.approx(valid.mean(), abs=1e-9)
                assert (row["wins"], row["losses"]) == ((d > 1e-9).sum(), (d < -1e-9).sum())
                assert row["n_failed_baseline"] == rows["failed"].sum()
                strata = rows.groupby("group")["d"]
                if strata.size().min() >= 2:
                    n_tested += 1
                    se = math.sqrt((strata.size() * strata.var(ddof=1)).sum()) / len(d)
                    df = len(d) - strata.ngroups
                    assert row["se_stratified"] == pytest.approx(se, abs=1e-9)
                    interval = stats.t.interval(0.95, df, loc=d.mean(), scale=se)
                    assert (row["ci_low"], row["ci_high"]) == pytest.approx(interval, abs=1e-9)
                    p_values[key] = 2 * stats.t.sf(abs(d.mean()) / se, df)
                    assert row["p_stratified"] == pytest.approx(p_values[key], abs=1e-9)
                clusters = rows.groupby("dataset")["d"]
                deviations = clusters.sum() - clusters.size() * d.mean()
                c = clusters.ngroups
                se = math.sqrt(c / (c - 1) * (deviations**2).sum()) / len(d)
                assert row["se_clustered"] == pytest.approx(se, abs=1e-9)
                interval = stats.t.interval(0.95, c - 1, loc=d.mean(), scale=se)
                assert (row["ci_clustered_low"], row["ci_clustered_high"]) == pytest.approx(interval, abs=1e-9)
                flips[key] = _flips(clusters.sum().to_numpy())
                assert row["p_clustered"] == pytest.approx(flips[key], abs=1e-9)
                assert row["testable"] == (2.0 ** (1 - c) * len(of_family["baseline"].unique()) <= 0.05)
            for name, tested in (("p_stratified_holm", p_values), ("p_clustered_holm", flips)):
                for key, adjusted in zip(tested, _holm(list(tested.values())), strict=True):
                    assert stored.loc[key, name] == pytest.approx(adjusted, abs=1e-9)
        assert n_checked == len(stored) == 100
        assert n_tested > 50
        assert not stored.index.isin([("off-policy", BROKEN, "task", "Short-Long", "a_mem")]).any()

    def test_rankings_and_leaderboard(self, published: Published, database: duckdb.DuckDBPyConnection) -> None:
        place = ["experiment", "split", "collection"]
        system = ["experiment", "split", "backbone", "baseline"]
        ranked = published.valid.copy()
        ranked["rank"] = ranked.groupby(place)["weighted_average"].rank(method="min", ascending=False)
        stored = database.execute("SELECT * FROM collection_rankings WHERE rank IS NOT NULL").df().set_index(KEYS)
        expected = ranked.set_index(KEYS)
        assert stored.index.sort_values().equals(expected.index.sort_values())
        for name in ("rank", "weighted_average", "z_score"):
            assert np.allclose(stored[name].sort_index(), expected[name].sort_index(), rtol=0, atol=1e-9)

        needed = ranked.groupby(["experiment", "split"])["collection"].nunique()
        means = ranked.groupby(system).agg(n=("collection", "size"), weighted_average=("weighted_average", "mean"),
                                           z_score=("z_score", "mean"), rank=("rank", "mean")).reset_index()  # fmt: skip
        complete = means[
            means["n"] == needed.loc[list(zip(means["experiment"], means["split"], strict=True))].to_numpy()
        ]
        complete = complete.assign(
            place=complete.groupby(["experiment", "split"])["weighted_average"].rank(method="min", ascending=False)
        ).set_index(system).sort_index()  # fmt: skip
        board = database.execute("SELECT * FROM leaderboard").df().set_index(system).sort_index()
        assert len(board) == len(means)
        assert board["missing_collections"].notna().sum() == len(means) - len(complete) > 0
        board = board[board["rank"].notna()]
        assert board.index.equals(complete.index)
        for ours, theirs in (("rank", "place"), ("mean_weighted_average", "weighted_average"),
                             ("mean_z_score", "z_score"), ("mean_rank", "rank")):  # fmt: skip
            assert np.allclose(board[ours].astype(float), complete[theirs], rtol=0, atol=1e-9)

    def test_baseline_comparison(self, published: Published, database: duckdb.DuckDBPyConnection) -> None:
        columns = ["experiment", "backbone", "split", "collection", "dataset", "test_idx"]
        samples = published.valid_samples
        both = samples.merge(samples, on=columns, suffixes=("", "_o"))
        both = both[both["baseline"] < both["baseline_o"]]
        d = both["score"] - both["score_o"]
        both = both.assign(wins=d > 1e-9, ties=d.abs() <= 1e-9, losses=d < -1e-9, n=1)
        counts = both.groupby(["experiment", "split", "collection", "baseline", "baseline_o"])
        expected = counts[["n", "wins", "ties", "losses"]].sum().reset_index().to_numpy().tolist()
        stored = database.execute(
            "SELECT experiment, split, collection, baseline, other_baseline, n_samples, wins, ties, losses "
            "FROM baseline_comparison WHERE n_samples > 0 ORDER BY ALL"
        ).fetchall()
        assert [list(row) for row in stored] == sorted(expected)

    def test_ratings(self, published: Published, database: duckdb.DuckDBPyConnection) -> None:
        stored = database.execute("SELECT * FROM ratings").df()
        overall: dict[str, dict[tuple[str, str], list[float]]] = {}
        n_intervals = 0
        for (split, collection), rows in published.valid_samples.groupby(["split", "collection"]):
            ratings = _logistic_regression(rows)
            found = stored[(stored["split"] == split) & (stored["collection"] == collection)]
            assert found["rating"].notna().sum() == len(ratings)
            for row in found.dropna(subset="rating").itertuples():
                assert row.rating == pytest.approx(ratings[row.backbone, row.baseline], abs=1e-6)
                assert pd.isna(row.rating_low) or row.rating_low <= row.rating <= row.rating_high
            n_intervals += found["rating_low"].notna().sum()
            for system, rating in ratings.items():
                overall.setdefault(split, {}).setdefault(system, []).append(rating)
            _check_bounds(found)
        for split, systems in overall.items():
            most = max(map(len, systems.values()))
            means = {system: sum(of) / most for system, of in systems.items() if len(of) == most}
            found = stored[(stored["split"] == split) & stored["collection"].isna()]
            found = found.dropna(subset="rating")
            assert {(row.backbone, row.baseline) for row in found.itertuples()} == means.keys()
            for row in found.itertuples():
                assert row.rating == pytest.approx(means[row.backbone, row.baseline], abs=1e-6)
            _check_bounds(found)
        assert n_intervals > 50


def _logistic_regression(rows: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Strengths by Newton's method on one observation for each comparison, half of two for a tie; points around 1000."""
    table = rows.pivot(index=["dataset", "test_idx"], columns=["backbone", "baseline"], values="score")
    systems, scores = list(table.columns), table.to_numpy()
    n = len(systems)
    won, played = np.zeros((n, n)), np.zeros((n, n))
    for sample in scores:
        difference = sample[:, None] - sample[None, :]
        won += np.where(np.abs(difference) <= 1e-9, 0.5, difference > 0) * ~np.isnan(difference)
        played += ~np.isnan(difference)
    off = ~np.eye(n, dtype=bool)
    won, played = np.where(off & (played > 0), won + 0.5, 0), np.where(off & (played > 0), played + 1, 0)
    strength = np.zeros(n)
    for _ in range(100):
        p = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        gradient = (won - played * p).sum(axis=1)
        information = played * p * (1 - p)
        step = np.linalg.lstsq(np.diag(information.sum(axis=1)) - information, gradient, rcond=None)[0]
        strength += step
        if np.abs(step).max() < 1e-13:
            break
    points = 1000 + 400 / math.log(10) * (strength - strength.mean())
    return dict(zip(systems, points, strict=True))


def _check_bounds(found: pd.DataFrame) -> None:
    rated = found.dropna(subset="rating")
    for row in rated.itertuples():
        assert row.rank == 1 + sum(other.rating > row.rating + 1e-9 for other in rated.itertuples())
        if pd.isna(row.rating_low):
            assert pd.isna([row.rating_high, row.rank_low, row.rank_high]).all() and "no interval: " in row.pool
            continue
        assert row.rank_low == 1 + sum(other.rating_low > row.rating_high for other in rated.itertuples())
        assert row.rank_high == len(rated) - sum(other.rating_high < row.rating_low for other in rated.itertuples())


# The command ----------------------------------------------------------------------------------------------------------


class TestTableCommand:
    def run(self, built: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
        assert main(["table", *arguments, "--warehouse", str(built)]) == 0
        return capsys.readouterr().out

    @pytest.mark.parametrize(
        ("name", "style"),
        [
            *itertools.product(
                [*LAYOUTS, *(f"{name}_all" for name in SWITCHED)], ["table", "markdown", "latex", "csv"]
            ),
            *((view.name, "table") for view in list_views() if layout(view.name) is None),
        ],
    )
    def test_every_view_in_every_format(
        self, built: Path, capsys: pytest.CaptureFixture[str], name: str, style: str
    ) -> None:
        assert self.run(built, capsys, name, "--format", style)

    def test_gains_in_markdown(self, built: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = self.run(
            built, capsys, "memory_gain", "--collection", "Legal", "--backbone", BROKEN, "--format", "markdown"
        )
        table, legend = out.split("\n\n")
        assert legend.startswith("- gain: mean difference to wo\\_memory over n ")
        lines = table.splitlines()
        assert lines[0].startswith(
            "| backbone | split | collection | baseline | gain | 95% interval | these datasets |"
        )
        verdicts = [line.split(" | ")[6:8] for line in lines[2:]]
        assert {these for these, _ in verdicts} <= {"n.s.", "worse"}
        assert "**" not in table and "bold" not in legend  # none is better
        assert {other for _, other in verdicts} == {"cannot tell"}  # of five datasets
        assert lines[0].endswith("| n | datasets | wins | ties | losses |")
        assert {line.split(" | ")[9] for line in lines[2:]} == {"5"}

    @pytest.mark.parametrize("of", [["--split", "task"], ["--split", "domain"]], ids=["task", "domain"])
    def test_a_gain_is_bold_where_its_verdict_is_that_it_is_better(
        self, built: Path, capsys: pytest.CaptureFixture[str], of: list[str]
    ) -> None:
        rows = json.loads(self.run(built, capsys, "memory_gain", *of, "--format", "json"))
        better = [row for row in rows if row["on_these_datasets"] == "better"]
        blocks = {(row["backbone"], row["collection"]) for row in better}
        expected = {
            max((row["delta"], row["baseline"]) for row in better if (row["backbone"], row["collection"]) == block)
            for block in blocks
        }
        out = self.run(built, capsys, "memory_gain", *of, "--format", "markdown")
        cells = [line.split(" | ") for line in out.splitlines() if " | **" in line]
        assert {(cell[4].strip("*"), cell[3].replace("\\", ""), cell[6]) for cell in cells} == {
            (f"{gain:.4f}", baseline, "better") for gain, baseline in expected
        }
        assert ("bold: the highest of its block among gains that are better" in out) == bool(expected)
        latex = self.run(built, capsys, "memory_gain", *of, "--format", "latex")
        assert latex.count("\\textbf{") == len(expected) and ("bold:" in latex) == bool(expected)

    def test_of_gains_that_are_not_better_none_is_bold_however_high(self) -> None:
        chosen = LAYOUTS["memory_gain"]
        headers = [*chosen.sections, *(column.header for column in chosen.columns)]
        gains = [("A", 0.9, "n.s."), ("A", 0.2, "better"), ("A", 0.3, "better"), ("A", -0.1, "worse"),
                 ("B", 0.9, "cannot tell"), ("B", -0.5, "worse"), ("C", 0.1, "better"), ("C", None, None)]  # fmt: skip
        given = [{"collection": c, "gain": gain, "these datasets": verdict} for c, gain, verdict in gains]
        (contends,) = (column.contends for column in chosen.columns if column.best is not None)
        with duckdb.connect() as connection:
            query = f"SELECT {contends} FROM (SELECT ? AS on_these_datasets)"
            asked = [(connection.execute(query, [verdict]).fetchone() or ())[0] for _, _, verdict in gains]
        rows = [tuple(row.get(header) for header in headers) for row in given]
        assert _best(rows, chosen, {contends: asked}) == {(2, headers.index("gain")), (6, headers.index("gain"))}

    def test_each_question_of_a_gain_has_a_line_of_its_own_and_each_reason_one(
        self, built: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        arguments = ["memory_gain", "--backbone", BROKEN, "--split", "task"]
        assert main(["table", *arguments, "--warehouse", str(built)]) == 0
        out, err = capsys.readouterr()
        *tables, notes = out.split("\n\n")
        (table,) = (table for table in tables if table.startswith(f"{BROKEN} / task / Short-Long\n"))
        reasons = {line.split()[-1] for line in table.splitlines()[2:] if "[" in line}
        assert reasons == {"[1]", "[2]"} or reasons == {"[1]"}
        assert [line.split()[0] for line in notes.splitlines()] == sorted(reasons)
        assert all("wo_memory is invalid: " in line and "…" not in line for line in notes.splitlines())
        assert [line.split(":")[0] for line in err.splitlines()] == [
            "gain",
            "these datasets",
            "95% interval",
            "other datasets",
        ]

    @pytest.mark.parametrize("style", ["table", "markdown", "latex"])
    def test_where_there_is_no_gain_one_line_says_so_and_why(
        self, built: Path, capsys: pytest.CaptureFixture[str], style: str
    ) -> None:
        arguments = ["memory_gain", "--backbone", BROKEN, "--split", "task", "--collection", "Short-Long"]
        assert main(["table", *arguments, "--format", style, "--warehouse", str(built)]) == 0
        out, err = capsys.readouterr()
        first, *more = out.splitlines()
        assert first.startswith("no gain can be computed: ") and "memory is invalid: " in first.replace("\\", "")
        assert more[:1] == [] if style == "table" else any("revision " in line for line in more)
        assert "gain: mean difference" not in out + err

    def test_exact_numbers_go_with_how_many_invalid_groups_are_in(
        self, built: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        told = {}
        names = [*SWITCHED, *(f"{name}_all" for name in SWITCHED), "results", "gain_tests", "summary_table_z_score",
                 "z_score", "sample_scores", "predictions", "normalization", "result_groups"]  # fmt: skip
        for name in names:
            assert main(["table", name, "--format", "csv", "--warehouse", str(built)]) == 0
            err = capsys.readouterr().err
            found = re.search(r"^(\d+) invalid groups? in here: see validity in results$", err, re.MULTILINE)
            told[name] = int(found[1]) if found else 0
        with duckdb.connect(str(built / "memorybench.duckdb"), read_only=True) as connection:
            query = "SELECT count(*) FROM result_groups WHERE validity = 'invalid'"
            ((invalid,),) = connection.execute(query).fetchall()
        assert invalid > 0
        without = {*SWITCHED, "predictions", "normalization", "result_groups"}
        assert told == {name: 0 if name in without else invalid for name in names}

    def test_the_best_is_bold_in_latex(self, built: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = self.run(built, capsys, "leaderboard", "--split", "domain", "--format", "latex")
        assert out.count(r"\textbf{") == 4  # weighted_average, z_score, mean_rank, rating
        out = self.run(built, capsys, "weighted_average", "--format", "latex")
        assert out.count(r"\textbf{") == out.count("DeepSeek") + out.count("Mistral") == 14

    def test_a_leaderboard_says_what_its_means_ranks_and_ratings_are(
        self, built: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = self.run(built, capsys, "leaderboard", "--split", "domain", "--format", "markdown").replace("\\", "")
        assert " | mean_weighted_average | mean_z_score | mean_rank | rating | " in out.splitlines()[0]
        assert "- mean_weighted_average, mean_z_score, mean_rank: means over the collections of the split, each " in out
        assert "- rating: mean over the collections of ratings; Bradley-Terry, " in out
        assert "ranks are among" not in out and "- no rating" not in out
        n_ranked = sum(bool(re.match(r"\| domain \| \d+ ", line)) for line in out.splitlines())
        out = self.run(built, capsys, "leaderboard", "--split", "domain", "--backbone", BROKEN, "--format", "latex")
        assert f"ranks are among all {n_ranked} systems of a split, of which some are shown" in out
        out = self.run(built, capsys, "collection_rankings", "--collection", "Legal", "--format", "markdown")
        assert "- rating: Bradley-Terry, from how often" in out and "1000 is the mean of the systems rated" in out

    def test_machines_get_every_column(self, built: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rows = json.loads(self.run(built, capsys, "leaderboard_all", "--format", "json"))
        (view,) = (view for view in list_views() if view.name == "leaderboard_all")
        assert list(rows[0]) == list(view.columns)

    @pytest.mark.parametrize("name", [*SWITCHED, "results", "weighted_average"])
    def test_a_table_fits_a_terminal(self, built: Path, name: str) -> None:
        command = [sys.executable, "-m", "pipelines.entry", "table", name, "--warehouse", str(built)]
        leader, follower = pty.openpty()
        environment = os.environ | {"COLUMNS": "80"}
        with subprocess.Popen(
            command, stdout=follower, stderr=subprocess.DEVNULL, cwd=ROOT, env=environment
        ) as process:
            os.close(follower)
            out = b""
            try:
                while data := os.read(leader, 1 << 16):
                    out += data
            except OSError:
                pass  # how Linux says that the other end is closed
        os.close(leader)
        assert process.returncode == 0
        lines = out.decode().replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()
        assert len(lines) > 20
        assert max(map(len, lines)) <= 80, max(lines, key=len)


def test_the_example_runs(built: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "docs" / "example_analysis.py"), str(built), str(tmp_path / "gains.svg")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "weighted_average" in done.stdout and "cannot tell" in done.stdout
    assert (tmp_path / "gains.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "1 invalid group in here: see validity in results\n" in done.stdout
    assert "Generated sample" not in done.stdout and not re.search(r"\b(nan|None|NaN)\b", done.stdout)
    sample = as_sample(built, tmp_path / "sample")
    done = subprocess.run([*command[:2], str(sample), command[3]], capture_output=True, text=True, check=True)
    assert "\nGenerated sample: its numbers mean nothing.\n" in done.stdout


def test_the_example_draws_nothing_where_there_is_no_gain(tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    for key in (A_MEM, WO_MEMORY):
        archive.add(key, {"summary.json": {"summary": {"weighted_average": 0.5}}})
    build(archive.root, tmp_path / "warehouse")
    plot = tmp_path / "gains.svg"
    command = [sys.executable, str(ROOT / "docs" / "example_analysis.py"), str(tmp_path / "warehouse"), str(plot)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\nnothing to draw: no gain can be computed\n")
    assert not re.search(r"\b(nan|None|NaN)\b", done.stdout)
    assert not plot.exists()


def test_views_with_invalid_groups_have_the_columns_of_those_without() -> None:
    views = {view.name: view for view in list_views()}
    for name in SWITCHED:
        assert views[name].output_columns == views[f"{name}_all"].output_columns
        assert quoted(name) != quoted(f"{name}_all")
