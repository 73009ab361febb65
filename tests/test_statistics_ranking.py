"""Ranks, rank bounds and common support, worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.statistics.ranking import competition_ranks, missing_support, rank_bounds


@pytest.mark.parametrize(
    "values, ranks",
    [
        ([3.0, 1.0, 2.0], [1, 3, 2]),
        ([2.0, 3.0, 2.0, 1.0], [2, 1, 2, 4]),
        ([None, 1.0, math.nan, 2.0], [None, 2, None, 1]),
        ([1.0, 1.0 + 5e-10, 1.0 - 9e-10], [1, 1, 3]),
        ([math.inf, math.inf, -math.inf], [1, 1, 3]),
        ([], []),
    ],
    ids=["distinct", "equal ones share the best", "missing ones have none", "nearly equal", "infinite", "none"],
)
def test_competition_ranks(values, ranks):
    assert competition_ranks(values) == ranks


@given(st.lists(st.integers(0, 5), min_size=1))
def test_a_rank_is_one_more_than_the_number_above(values):
    assert competition_ranks(values) == [1 + sum(other > value for other in values) for value in values]


def test_rank_bounds_count_the_intervals_that_lie_apart():
    low, high = rank_bounds([10, 8, 1, 0], [12, 11, 3, 9])
    assert low.tolist() == [1, 1, 3, 2]
    assert high.tolist() == [2, 3, 4, 4]


def test_intervals_that_touch_do_not_decide():
    low, high = rank_bounds([0, 1], [1, 2])
    assert (low.tolist(), high.tolist()) == ([1, 1], [2, 2])


def test_an_interval_without_an_end_is_refused():
    with pytest.raises(ValueError, match="lower and an upper"):
        rank_bounds([0, math.nan], [1, 2])


def test_missing_support_names_what_others_have():
    covered = {"a": ["Legal", "Open-Domain"], "b": ["Legal"], "c": []}
    assert missing_support(covered) == {"a": (), "b": ("Open-Domain",), "c": ("Legal", "Open-Domain")}
    assert missing_support({}) == {}
