"""Gains: worked by hand, and against loops, matrices, enumeration and scipy.stats."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pipelines.statistics.gains import GainTest, can_be_tested, gain_test, holm, sign_flip_p


def gain_of(differences, groups, clusters=None, failed_baseline=None, failed_reference=None) -> GainTest:
    none = [False] * len(differences)
    return gain_test(differences, groups, clusters or groups, failed_baseline or none, failed_reference or none)


def random_collection(seed: int, sizes=(5, 5, 17, 40, 3)):
    """Differences of datasets of several sizes and spreads, the first two folded into one dataset group."""
    rng = np.random.default_rng(seed)
    clusters = [f"d{i}" for i, size in enumerate(sizes) for _ in range(size)]
    groups = ["folded" if c in ("d0", "d1") else c for c in clusters]
    spread = rng.uniform(0.05, 0.4, len(sizes))
    differences = np.concatenate([rng.normal(0.05, spread[i], size) for i, size in enumerate(sizes)])
    return differences, groups, clusters


def test_a_case_worked_by_hand():
    result = gain_of(
        [0.1, 0.3, -0.2, 0.2, 0.0],
        ["A", "A", "B", "B", "B"],
        failed_baseline=[False, False, True, False, False],
        failed_reference=[True, False, True, False, False],
    )
    assert (result.n, result.wins, result.ties, result.losses) == (5, 3, 1, 1)
    assert (result.n_failed_baseline, result.n_failed_reference, result.n_valid) == (1, 2, 3)
    assert result.delta == pytest.approx(0.08, abs=1e-15)
    assert result.delta_valid == pytest.approx((0.3 + 0.2 + 0.0) / 3, abs=1e-15)
    # s²_A = 0.02, s²_B = 0.04: √(2·0.02 + 3·0.04) / 5 = 0.08, so t = 1 on 3 degrees of freedom
    assert result.se_stratified == pytest.approx(0.08, abs=1e-15)
    assert (result.df, result.n_strata) == (3, 2)
    assert result.p_stratified == pytest.approx(0.39100221895577053, abs=1e-12)
    assert result.ci_high - result.delta == pytest.approx(3.182446305284263 * 0.08, abs=1e-12)
    # residual sums 0.24 and -0.24
    assert result.se_clustered == pytest.approx(0.096, abs=1e-15)
    assert result.se_clustered_cr2 == pytest.approx(math.sqrt(0.0576 / 0.6 + 0.0576 / 0.4) / 5, abs=1e-15)
    assert result.df_clustered_cr2 == pytest.approx(1, abs=1e-12)
    assert result.ci_clustered_low == pytest.approx(0.08 - 12.706204736432095 * 0.096, abs=1e-9)
    # sums 0.4 and 0: every pattern reaches 0.4
    assert (result.p_clustered, result.p_min, result.n_clusters) == (1.0, 0.5, 2)


@pytest.mark.parametrize("seed", range(5))
def test_the_stratified_figures_agree_with_loops_and_scipy(seed):
    differences, groups, clusters = random_collection(seed)
    result = gain_of(differences, groups, clusters)
    total = 0.0
    for name in set(groups):
        own = [d for d, g in zip(differences, groups, strict=True) if g == name]
        mean = sum(own) / len(own)
        total += len(own) * sum((d - mean) ** 2 for d in own) / (len(own) - 1)
    n, df = len(differences), len(differences) - len(set(groups))
    se = math.sqrt(total) / n
    mean = sum(differences) / n
    assert result.se_stratified == pytest.approx(se, rel=1e-12)
    assert (result.ci_low, result.ci_high) == pytest.approx(stats.t.interval(0.95, df, mean, se), abs=1e-9)
    assert result.p_stratified == pytest.approx(2 * stats.t.sf(abs(mean) / se, df), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_clustered_figures_agree_with_full_matrices(seed):
    differences, groups, clusters = random_collection(seed)
    result = gain_of(differences, groups, clusters)
    n, names = len(differences), sorted(set(clusters))
    ones = np.ones((n, 1))
    annihilator = np.eye(n) - ones @ ones.T / n
    residuals = annihilator @ differences
    meat_cr1, meat_cr2, directions = 0.0, 0.0, []
    for name in names:
        own = np.array([c == name for c in clusters])
        within = annihilator[np.ix_(own, own)]
        values, vectors = np.linalg.eigh(within)
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        meat_cr1 += residuals[own].sum() ** 2
        meat_cr2 += (ones[own].T @ root @ residuals[own]).item() ** 2
        directions.append(annihilator[own].T @ root @ ones[own])
    products = np.hstack(directions).T @ np.hstack(directions)
    df = np.trace(products) ** 2 / (products**2).sum()
    count = len(names)
    cr1, cr2 = math.sqrt(count / (count - 1) * meat_cr1) / n, math.sqrt(meat_cr2) / n
    mean = differences.mean()
    assert result.se_clustered == pytest.approx(cr1, rel=1e-9)
    assert result.se_clustered_cr2 == pytest.approx(cr2, rel=1e-9)
    assert result.df_clustered_cr2 == pytest.approx(df, rel=1e-9)
    assert (result.ci_clustered_low, result.ci_clustered_high) == pytest.approx(
        stats.t.interval(0.95, count - 1, mean, cr1), abs=1e-9
    )
    assert (result.ci_clustered_cr2_low, result.ci_clustered_cr2_high) == pytest.approx(
        stats.t.interval(0.95, df, mean, cr2), abs=1e-9
    )


def test_clusters_of_one_size_make_both_clustered_errors_equal():
    rng = np.random.default_rng(3)
    labels = [f"d{i}" for i in range(6) for _ in range(7)]
    result = gain_of(rng.normal(size=42), labels)
    assert result.se_clustered_cr2 == pytest.approx(result.se_clustered, rel=1e-12)
    assert result.df_clustered_cr2 == pytest.approx(5, rel=1e-12)


class TestWhatCannotBeHad:
    def test_no_common_sample_gives_counts_and_nothing_else(self):
        result = gain_of([], [])
        assert (result.n, result.df, result.wins, result.n_clusters) == (0, 0, 0, 0)
        figures = (result.delta, result.delta_valid, result.se_stratified, result.ci_low, result.p_stratified)
        assert figures == (None,) * 5
        assert (result.se_clustered, result.df_clustered_cr2, result.p_clustered, result.p_min) == (None,) * 4

    def test_a_dataset_group_of_one_sample_has_no_spread_to_estimate(self):
        result = gain_of([0.1, 0.2, 0.4], ["A", "A", "B"])
        assert (result.se_stratified, result.ci_low, result.ci_high, result.p_stratified) == (None,) * 4
        assert result.delta == pytest.approx(0.7 / 3)
        assert result.se_clustered is not None

    def test_as_many_dataset_groups_as_samples(self):
        result = gain_of([0.1, 0.2], ["A", "B"])
        assert (result.df, result.se_stratified, result.p_stratified) == (0, None, None)

    @pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3])
    def test_differences_without_any_spread_are_not_certain(self, value):
        result = gain_of([value] * 8, ["A"] * 3 + ["B"] * 5)
        assert (result.se_stratified, result.ci_low, result.p_stratified) == (None,) * 3
        assert (result.se_clustered, result.se_clustered_cr2, result.ci_clustered_cr2_high) == (None,) * 3
        assert result.p_clustered == (0.5 if value else 1.0)

    def test_one_cluster_says_nothing_of_others(self):
        result = gain_of([0.1, 0.2, 0.4], ["A", "A", "A"])
        assert (result.se_clustered, result.se_clustered_cr2, result.df_clustered_cr2) == (None,) * 3
        assert (result.p_clustered, result.p_min) == (1.0, 1.0)
        assert result.se_stratified is not None

    def test_no_sample_without_a_failure(self):
        result = gain_of([0.1, 0.2], ["A", "A"], failed_baseline=[True, False], failed_reference=[False, True])
        assert (result.n_valid, result.delta_valid) == (0, None)
        assert result.delta == pytest.approx(0.15)

    def test_what_is_not_finite_is_left_out_and_counted(self):
        dirty = gain_of(
            [0.1, math.nan, 0.3, math.inf, -math.inf, 1e300],
            ["A", "A", "A", "B", "B", "B"],
            failed_baseline=[False, True, False, True, True, True],
        )
        clean = gain_of([0.1, 0.3], ["A", "A"])
        assert dirty.n_not_finite == 4
        assert dirty == GainTest(**{**vars(clean), "n_not_finite": 4})

    def test_lengths_that_differ_are_refused(self):
        with pytest.raises(ValueError, match="one entry a sample"):
            gain_test([0.1, 0.2], ["A"], ["A", "A"], [False, False], [False, False])


@pytest.mark.parametrize("difference, outcome", [(1e-9, "ties"), (1.01e-9, "wins"), (-1e-9, "ties"), (-2e-9, "losses")])
def test_a_tie_is_a_billionth(difference, outcome):
    result = gain_of([difference], ["A"])
    assert {name: getattr(result, name) for name in ("wins", "ties", "losses") if getattr(result, name)} == {outcome: 1}


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_samples_changes_nothing(seed):
    differences, groups, clusters = random_collection(seed % 7)
    order = np.random.default_rng(seed).permutation(len(differences))
    failed = (np.arange(len(differences)) % 3 == 0).tolist()
    shuffled = gain_of(
        differences[order], [groups[i] for i in order], [clusters[i] for i in order], [failed[i] for i in order]
    )
    assert shuffled == gain_of(differences, groups, clusters, failed)


def flips_by_enumeration(sums) -> float:
    reached = abs(math.fsum(sums)) - 1e-12
    patterns = list(itertools.product((1, -1), repeat=len(sums)))
    return sum(abs(math.fsum(e * s for e, s in zip(p, sums, strict=True))) >= reached for p in patterns) / len(patterns)


class TestSignFlips:
    @given(st.lists(st.integers(-8, 8).map(lambda k: k / 8), min_size=1, max_size=9))
    def test_agree_with_enumeration_where_sums_tie(self, sums):
        assert sign_flip_p(sums) == flips_by_enumeration(sums)

    @given(st.lists(st.floats(-50, 50), min_size=1, max_size=8))
    def test_agree_with_enumeration_for_any_sums(self, sums):
        assert sign_flip_p(sums) == pytest.approx(flips_by_enumeration(sums), abs=1e-12)

    def test_agree_with_enumeration_for_the_most_clusters_of_a_published_collection(self):
        sums = np.random.default_rng(5).normal(0.4, 1, 17)
        signs = np.array(list(itertools.product((1, -1), repeat=17)))
        share = (np.abs(signs @ sums) >= abs(sums.sum()) - 1e-12).mean()
        assert sign_flip_p(sums) == pytest.approx(share, abs=1e-15)

    def test_the_smallest_p_is_two_patterns_of_all(self):
        assert sign_flip_p([1.0] * 17) == 2.0**-16

    def test_forty_clusters_are_counted_and_more_are_not(self):
        assert sign_flip_p([1.0] * 40) == 2.0**-39
        assert sign_flip_p([1.0] * 41) is None
        result = gain_of([0.1 * i for i in range(41)], [str(i) for i in range(41)])
        assert (result.p_clustered, result.p_min) == (None, None)

    def test_sums_that_are_not_finite_are_refused(self):
        with pytest.raises(ValueError, match="not finite"):
            sign_flip_p([1.0, math.nan])


class TestHolm:
    def test_a_case_worked_by_hand(self):
        # sorted 0.005·4 = 0.02, 0.01·3 = 0.03, 0.03·2 = 0.06, 0.04·1 = 0.04 raised to 0.06
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_what_was_not_tested_is_not_counted(self):
        assert holm([None, 0.03, None, 0.02]) == [None, pytest.approx(0.04), None, pytest.approx(0.04)]

    def test_never_above_one_and_empty_stays_empty(self):
        assert holm([0.9, 0.8]) == [1.0, 1.0]
        assert holm([]) == []
        assert holm([None]) == [None]

    def test_a_value_outside_0_to_1_is_refused(self):
        for bad in (-0.1, 1.1, math.nan):
            with pytest.raises(ValueError, match=r"outside 0\.\.1"):
                holm([0.5, bad])

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
    def test_rejects_what_the_step_down_procedure_rejects(self, p_values):
        order = sorted(range(len(p_values)), key=lambda i: p_values[i])
        rejected = set()
        for step, i in enumerate(order):
            if (len(p_values) - step) * p_values[i] > 0.05:
                break
            rejected.add(i)
        assert {i for i, p in enumerate(holm(p_values)) if p <= 0.05} == rejected

    @given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.integers(0, 5), st.floats(0, 1))
    def test_never_falls_when_a_p_rises(self, p_values, which, share):
        i = which % len(p_values)
        raised = [*p_values]
        raised[i] += (1 - raised[i]) * share
        assert all(a <= b + 1e-15 for a, b in zip(holm(p_values), holm(raised), strict=True))


class TestWhetherATestCouldReachSignificance:
    @pytest.mark.parametrize("clusters, family, could", [(17, 8, True), (6, 1, True), (6, 2, False), (5, 1, False)])
    def test_by_clusters_and_family(self, clusters, family, could):
        assert can_be_tested([2.0 ** (1 - clusters)] * family) == [could] * family

    def test_a_baseline_without_a_p_cannot_and_is_not_counted(self):
        assert can_be_tested([2.0**-5, None]) == [True, False]

    def test_one_that_must_come_second_has_the_smaller_family(self):
        # 2^-5·2 > 0.05 alone, but the other goes first, and leaves a family of one
        assert can_be_tested([2.0**-16, 2.0**-5]) == [True, True]


def test_scipy_is_not_imported_before_it_is_needed():
    code = "import pipelines.statistics.gains, pipelines.statistics.ratings, sys; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
