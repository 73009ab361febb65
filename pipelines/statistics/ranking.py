"""Ranks: shared by what is equal, bounded by intervals, and given on common support only.

Nothing here knows what is ranked; `ratings.py` and the leaderboard do.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

System = TypeVar("System", bound=Hashable)

#: Values that differ by no more than this from the best of their rank share it.
TIE = 1e-9


def competition_ranks(values: Sequence[float | None]) -> list[int | None]:
    """Ranks from 1 for the highest value; equal values share the best rank, and the next one is left out (1, 2, 2, 4).

    Values within 1e-9 of the best of a rank share it. None, NaN and the like have no rank and are not counted.
    """
    ranked = sorted(((v, i) for i, v in enumerate(values) if v is not None and v == v), key=lambda pair: -pair[0])
    ranks: list[int | None] = [None] * len(values)
    rank, best = 0, float("nan")
    for place, (value, i) in enumerate(ranked, start=1):
        if not (value == best or best - value <= TIE):
            rank, best = place, value
        ranks[i] = rank
    return ranks


def rank_bounds(low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best and the worst rank that each system may have, from intervals [low, high] of shape (n,), any unit.

    rank_low = 1 + the number of systems whose interval lies wholly above; rank_high = n - the number of systems whose
    interval lies wholly below. Intervals that touch do not decide. Raises ValueError where an end is missing.
    """
    lo, hi = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if lo.shape != hi.shape or lo.ndim != 1 or np.isnan(lo).any() or np.isnan(hi).any():
        raise ValueError("each system needs a lower and an upper end")
    rank_low = 1 + (lo[None, :] > hi[:, None]).sum(axis=1)
    rank_high = len(lo) - (hi[None, :] < lo[:, None]).sum(axis=1)
    return rank_low.astype(np.int64), rank_high.astype(np.int64)


def missing_support(covered: Mapping[System, Collection[str]]) -> dict[System, tuple[str, ...]]:
    """For each system, the sorted names that some other system covers and it does not; empty means common support.

    Only systems with nothing missing may be ranked against each other over all of it.
    """
    everything = {name for names in covered.values() for name in names}
    return {system: tuple(sorted(everything - set(names))) for system, names in covered.items()}
