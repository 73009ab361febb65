"""Bradley-Terry ratings: worked by hand, and against a plain logistic regression."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from pipelines.statistics import ratings as module
from pipelines.statistics.ratings import Ratings, overall, rate, seed_for

NAN = math.nan


def keys(n: int, size: int = 7) -> list[tuple[str, int]]:
    return [(f"d{i // size}", i * 3) for i in range(n)]


def names(n: int) -> list[tuple[str, str]]:
    return [("backbone", f"s{i:02}") for i in range(n)]


def rated(scores, **options) -> Ratings:
    scores = np.asarray(scores, dtype=float)
    return rate(scores, names(scores.shape[1]), keys(len(scores)), **{"seed": 1, "n_draws": 50, **options})


def values(result: Ratings) -> list[float | None]:
    return [r.rating for r in result.ratings]


def random_scores(seed: int, n: int = 60, systems: int = 6, missing: float = 0.0):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=(n, systems)) + np.linspace(0, 1.5, systems) + rng.normal(size=(n, 1)), 1)
    scores[rng.random(scores.shape) < missing] = NAN
    return scores


def by_logistic_regression(scores, weights=None) -> np.ndarray:
    """Ratings from one row a comparison and one a pseudo-tie, by scipy's root finder on the score equations."""
    rows, wins, counts = [], [], []
    n, systems = scores.shape
    met = set()
    for k in range(n):
        for a in range(systems):
            for b in range(a + 1, systems):
                x, y = scores[k, a], scores[k, b]
                if math.isnan(x) or math.isnan(y):
                    continue
                met.add((a, b))
                rows.append((a, b))
                wins.append(0.5 if abs(x - y) <= 1e-9 else float(x > y))
                counts.append(1.0 if weights is None else float(weights[k]))
    rows += sorted(met)
    wins += [0.5] * len(met)
    counts += [1.0] * len(met)
    design = np.zeros((len(rows), systems))
    for i, (a, b) in enumerate(rows):
        design[i, a], design[i, b] = 1, -1
    design = design[:, 1:]  # the first system is the reference
    wins, counts = np.array(wins), np.array(counts)

    def slope(strength):
        return design.T @ (counts * (wins - 1 / (1 + np.exp(-design @ strength))))

    found = optimize.root(slope, np.zeros(systems - 1), tol=1e-13).x
    points = np.concatenate(([0], found)) * 400 / math.log(10)
    return 1000 + points - points.mean()


def test_two_systems_worked_by_hand():
    # 7 wins, 1 tie, 2 losses, and the pseudo-tie: 8 of 11, so odds of 8 to 3
    scores = [[1, 0]] * 7 + [[0.5, 0.5]] + [[0, 1]] * 2
    result = rated(scores)
    apart = 400 * math.log10(8 / 3)
    assert values(result) == pytest.approx([1000 + apart / 2, 1000 - apart / 2], abs=1e-6)
    assert [r.n_samples for r in result.ratings] == [10, 10]
    assert [r.n_comparisons for r in result.ratings] == [10, 10]
    assert [r.pool for r in result.ratings] == ["2 systems on 10 samples"] * 2
    assert [r.rank for r in result.ratings] == [1, 2]


def test_systems_that_met_only_through_a_third():
    # first beats second 3 of 3, second beats third 3 of 3: odds of 3.5 to 0.5 each, with their pseudo-ties
    scores = [[1, 0, NAN]] * 3 + [[NAN, 1, 0]] * 3
    apart = 400 * math.log10(7)
    result = rated(scores)
    assert values(result) == pytest.approx([1000 + apart, 1000, 1000 - apart], abs=1e-6)
    assert [r.n_comparisons for r in result.ratings] == [3, 6, 3]


def test_an_undefeated_system_stays_finite():
    scores = np.column_stack((np.ones(300), random_scores(2, 300, 3) / 100))
    result = rated(scores)
    assert result.ratings[0].rank_high == 1
    assert 1000 < result.ratings[0].rating < 4000
    assert np.isfinite(result.draws).all()


def test_nothing_but_ties_is_nobody_ahead():
    result = rated(np.ones((12, 4)))
    assert values(result) == [1000.0] * 4
    assert [r.rank for r in result.ratings] == [1] * 4
    assert without_interval(result) == {"4 systems on 12 samples; no interval: every draw gives the same"}


def without_interval(result: Ratings) -> set[str]:
    """What is said of the pool, in which nobody has an interval or bounds for the rank."""
    rated_ones = [r for r in result.ratings if r.rating is not None]
    assert {(r.low, r.high, r.rank_low, r.rank_high) for r in rated_ones} == {(None,) * 4}
    assert rated_ones and result.no_interval
    return {r.pool for r in rated_ones}


class TestWhereDrawsTellNothing:
    def test_a_win_on_every_sample_is_not_certain(self):
        result = rated([[1, 0]] * 12)
        assert values(result) == pytest.approx([1000 + 200 * math.log10(25), 1000 - 200 * math.log10(25)], abs=1e-6)
        assert without_interval(result) == {"2 systems on 12 samples; no interval: every draw gives the same"}

    @pytest.mark.parametrize("single, text", [(1, "one0 has"), (2, "one0 and 1 more datasets have")])
    def test_a_dataset_of_one_sample_has_no_known_spread(self, single, text):
        samples = [("many", i) for i in range(20)] + [(f"one{i}", 0) for i in range(single)]
        result = rate(random_scores(1, len(samples)), names(6), samples, seed=1, n_draws=50)
        described = f"6 systems on {20 + single} samples; no interval: {text} a single sample"
        assert without_interval(result) == {described}

    def test_a_lone_sample_that_nobody_shares_does_not_matter(self):
        scores = random_scores(1, 21)
        scores[20, 1:] = NAN
        samples = [("many", i) for i in range(20)] + [("one", 0)]
        result = rate(scores, names(6), samples, seed=1, n_draws=50)
        assert result.no_interval is None
        assert {r.pool for r in result.ratings} == {"6 systems on 20 samples"}

    def test_there_is_none_overall_where_one_collection_has_none(self):
        one, none = rated(random_scores(1, systems=2)), rated([[1, 0]] * 12)
        result = overall({"Legal": one, "Open-Domain": none})
        described = "2 systems over Legal, Open-Domain; no interval: there is none in Open-Domain"
        assert without_interval(result) == {described}
        assert values(result) == pytest.approx(np.mean([values(one), values(none)], axis=0), abs=1e-7)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_ratings_agree_with_logistic_regression(seed, missing):
    scores = random_scores(seed, missing=missing)
    assert values(rated(scores)) == pytest.approx(by_logistic_regression(scores), abs=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_draws_agree_with_logistic_regression_of_the_drawn_samples(missing):
    scores = random_scores(9, n=21, systems=4, missing=missing)
    scores[:, 3] = 9  # one that never loses, so that the curvature of the draws differs
    result = rated(scores, seed=77)
    compared = np.isfinite(scores).sum(axis=1) > 1
    datasets = [name for (name, _), keep in zip(keys(21), compared, strict=True) if keep]
    weights = module._resample(datasets, 77, 50)
    for draw in range(50):
        expected = by_logistic_regression(scores[compared], weights[draw])
        assert result.draws[draw] == pytest.approx(expected, abs=1e-6)


def test_draws_take_from_each_dataset_as_many_as_it_has():
    datasets = ["a"] * 3 + ["b"] * 20
    weights = module._resample(datasets, 5, 4000)
    assert (weights[:, :3].sum(axis=1) == 3).all()
    assert (weights[:, 3:].sum(axis=1) == 20).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(23), abs=0.08)
    assert weights[:, 3:].var() == pytest.approx(0.95, abs=0.05)


def test_the_interval_is_the_percentiles_of_the_draws():
    result = rated(random_scores(1), n_draws=200)
    for place, r in enumerate(result.ratings):
        assert r.low == pytest.approx(np.percentile(result.draws[:, place], 2.5), abs=1e-7)
        assert r.high == pytest.approx(np.percentile(result.draws[:, place], 97.5), abs=1e-7)
        assert r.rank_low == 1 + sum(other.low > r.high for other in result.ratings)
        assert r.rank_high == len(result.ratings) - sum(other.high < r.low for other in result.ratings)
    assert result.draws.mean(axis=1) == pytest.approx(np.full(200, 1000.0), abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
def test_the_order_of_systems_and_samples_changes_nothing(seed, missing):
    rng = np.random.default_rng(seed)
    scores = random_scores(seed % 5, n=30, missing=missing)
    columns, rows = rng.permutation(scores.shape[1]), rng.permutation(len(scores))
    all_names, all_keys = names(scores.shape[1]), keys(len(scores))
    shuffled = rate(
        scores[np.ix_(rows, columns)], [all_names[i] for i in columns], [all_keys[i] for i in rows], seed=1, n_draws=20
    )
    straight = rated(scores, n_draws=20)
    assert shuffled.ratings == straight.ratings
    assert np.array_equal(shuffled.draws, straight.draws)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 12), st.floats(0, 0.9))
def test_any_table_gives_finite_ratings_for_its_pool_and_none_outside(seed, systems, n, missing):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, size=(n, systems)).astype(float)
    scores[rng.random(scores.shape) < missing] = NAN
    result = rated(scores, n_draws=5)
    assert np.isfinite(result.draws).all()
    assert result.draws.shape == (5, len(result.pool))
    assert len(result.pool) != 1
    for r in result.ratings:
        assert (r.rating is not None) == (r.system in result.pool)
        if r.rating is None:
            assert (r.low, r.high, r.rank, r.rank_low, r.rank_high) == (None,) * 5
            assert r.pool.startswith("not rated")
        else:
            assert (r.low is None) == (r.rank_low is None) == (result.no_interval is not None)
            if r.low is not None:
                assert 1 <= r.rank_low <= r.rank <= r.rank_high <= len(result.pool) or not r.low <= r.rating <= r.high


@given(st.integers(0, 2**32 - 1))
def test_only_the_order_within_a_sample_counts(seed):
    scores = random_scores(seed % 5, n=20)
    factors = np.random.default_rng(seed).uniform(0.5, 2, size=(20, 1))
    assert rated(scores * factors + factors, n_draws=5).ratings == rated(scores, n_draws=5).ratings


def test_a_tie_is_a_billionth():
    assert values(rated([[0.5, 0.5 + 9e-10]] * 5)) == [1000, 1000]
    assert rated([[0.5, 0.5 + 1.1e-9]] * 5).ratings[1].rank == 1


def test_infinite_scores_are_missing_and_huge_ones_are_not():
    result = rated([[math.inf, 1, 0], [1e308, -1e308, 0]])
    assert [r.n_comparisons for r in result.ratings] == [2, 3, 3]
    assert result.ratings[0].rank == 1


class TestThePool:
    def test_systems_that_never_met_it_are_not_rated(self):
        scores = np.full((12, 6), NAN)
        scores[:6, [0, 2, 4]] = random_scores(1, 6, 3)
        scores[6:, [1, 5]] = [1.0, 0.0]
        scores[0, 3] = NAN
        result = rated(scores)
        assert [name for _, name in result.pool] == ["s00", "s02", "s04"]
        reasons = {r.system[1]: r.pool for r in result.ratings}
        assert reasons["s00"].startswith("3 systems on 6 samples")
        assert reasons["s01"] == "not rated: no sample in common with the pool of 3 systems, only with 1 other"
        assert reasons["s03"] == "not rated: no sample in common with the pool of 3 systems"
        assert {r.system[1]: r.n_comparisons for r in result.ratings} == {
            "s00": 12, "s01": 6, "s02": 12, "s03": 0, "s04": 12, "s05": 6,
        }  # fmt: skip
        alone = rate(scores[:6, [0, 2, 4]], [names(6)[i] for i in (0, 2, 4)], keys(6), seed=1, n_draws=50)
        assert [r for r in result.ratings if r.system in result.pool] == list(alone.ratings)

    def test_of_two_equal_ones_the_one_that_was_compared_more(self):
        scores = [[1, 0, NAN, NAN], [NAN, NAN, 1, 0], [NAN, NAN, 0, 1]]
        assert [name for _, name in rated(scores).pool] == ["s02", "s03"]

    @pytest.mark.parametrize(
        ("scores", "why"),
        [
            (np.ones((3, 1)), "there is no second system to compare"),
            (np.full((3, 2), NAN), "no usable scores of single samples are published"),
            (np.empty((0, 2)), "no usable scores of single samples are published"),
            (np.empty((0, 1)), "no usable scores of single samples are published"),
            ([[1, NAN], [2, NAN]], "usable scores of single samples are published of one system alone"),
            ([[1, NAN], [NAN, 2]], "no two systems have a sample in common"),
        ],
    )
    def test_there_is_none_where_nobody_was_compared(self, scores, why):
        result = rated(scores)
        assert (result.pool, result.draws.shape, result.no_pool) == ((), (50, 0), why)
        assert {r.pool for r in result.ratings} == {f"not rated: {why}"}
        assert {r.rating for r in result.ratings} <= {None}


class TestOverall:
    def test_is_the_mean_draw_by_draw(self):
        one, two = rated(random_scores(1), seed=1), rated(random_scores(2), seed=2)
        result = overall({"Legal": one, "Open-Domain": two})
        assert result.draws == pytest.approx((one.draws + two.draws) / 2, abs=1e-12)
        assert values(result) == pytest.approx(np.mean([values(one), values(two)], axis=0), abs=1e-7)
        assert result.ratings[0].low == pytest.approx(np.percentile(result.draws[:, 0], 2.5), abs=1e-7)
        assert result.ratings[0].n_samples == 120
        assert result.ratings[0].pool == "6 systems over Legal, Open-Domain"
        assert result.seed is None

    def test_leaves_out_who_lacks_a_collection_and_says_which(self):
        one, two = rated(random_scores(1, systems=4)), rated(random_scores(2, systems=3))
        result = overall({"Open-Domain": two, "Legal": one})
        assert [name for _, name in result.pool] == ["s00", "s01", "s02"]
        last = result.ratings[3]
        assert (last.rating, last.rank, last.rank_high) == (None, None, None)
        assert last.pool == "not rated: no rating in Open-Domain"
        assert last.n_samples == 60
        assert max(r.rank_high for r in result.ratings if r.rank_high) == 3

    def test_passes_over_a_collection_that_rates_nobody(self):
        one, empty = rated(random_scores(1, systems=2)), rated(np.ones((3, 1)))
        result = overall({"Legal": one, "Open-Domain": empty})
        assert result.ratings[0].pool == "2 systems over Legal"
        assert values(result) == values(one)

    def test_without_any_collection(self):
        result = overall({})
        assert (result.ratings, result.pool, result.draws.size) == ((), (), 0)

    @pytest.mark.parametrize(
        ("others", "why"),
        [
            ({}, "there is no second system to compare"),
            ({"Open-Domain": np.ones((2, 1))}, "there is no second system to compare"),
            ({"Open-Domain": np.empty((0, 0))}, "there is no second system to compare"),
            (
                {"Open-Domain": np.empty((0, 3)), "Academic": np.ones((2, 1))},
                "in Academic, Legal there is no second system to compare; "
                "in Open-Domain no usable scores of single samples are published",
            ),
        ],
    )
    def test_without_any_rating_says_why(self, others, why):
        result = overall({"Legal": rated(np.ones((3, 1))), **{name: rated(table) for name, table in others.items()}})
        assert (result.pool, result.draws.size, result.no_pool) == ((), 0, why)
        assert {r.pool for r in result.ratings} == {f"not rated: {why}"}

    def test_different_numbers_of_draws_are_refused(self):
        with pytest.raises(ValueError, match="numbers of draws"):
            overall({"a": rated(random_scores(1), n_draws=5), "b": rated(random_scores(1), n_draws=6)})


class TestBadInput:
    def test_a_name_or_key_that_occurs_twice(self):
        with pytest.raises(ValueError, match="twice"):
            rate([[1, 2]], [("a",), ("a",)], [("d", 1)], seed=1)
        with pytest.raises(ValueError, match="twice"):
            rate([[1], [2]], [("a",)], [("d", 1), ("d", 1)], seed=1)

    def test_another_shape(self):
        with pytest.raises(ValueError, match=r"not \(1 samples, 2 systems\)"):
            rate([[1, 2, 3]], [("a",), ("b",)], [("d", 1)], seed=1)

    def test_the_scores_passed_are_left_as_they_are(self):
        scores = np.array([[math.inf, 1.0], [0.0, 1.0]])
        rate(scores, [("b",), ("a",)], [("d", 2), ("d", 1)], seed=1, n_draws=2)
        assert scores.tolist() == [[math.inf, 1.0], [0.0, 1.0]]


class TestSeeds:
    def test_are_the_same_on_every_machine(self):
        assert seed_for("off-policy", "domain", "Legal", "metrics") == 3785371194740174009

    def test_differ_by_name_and_fit_a_signed_64_bit_integer(self):
        seeds = {seed_for("a", "bc"), seed_for("ab", "c"), seed_for("a", "b", "c"), seed_for("\ud800"), seed_for()}
        assert len(seeds) == 5
        assert all(0 <= seed < 2**63 for seed in seeds)

    def test_another_seed_gives_other_draws_and_the_same_ratings(self):
        one, two = rated(random_scores(1), seed=1), rated(random_scores(1), seed=2)
        assert values(one) == values(two)
        assert not np.array_equal(one.draws, two.draws)

    def test_the_number_of_threads_changes_nothing(self):
        code = (
            "import numpy as np; from pipelines.statistics.ratings import rate; r = np.random.default_rng(1);"
            "print(rate(r.normal(size=(200, 20)), [(str(i),) for i in range(20)], [('d', i) for i in range(200)], seed=1,"
            " n_draws=300).ratings)"
        )
        outputs = [
            subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            for threads in ("1", "2")
        ]
        assert outputs[0] == outputs[1] != ""
