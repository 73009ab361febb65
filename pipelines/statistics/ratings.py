"""Bradley-Terry ratings: how systems compare sample by sample, on one scale, with an interval and rank bounds.

A system's rating says how often it beats the others on the same sample, not by how much. Every pair of systems that
answered a sample is one comparison: a win, a loss, or half of each where the scores differ by at most 1e-9. With
P(a beats b) = 1 / (1 + 10^((R_b - R_a) / 400)), 100 points are a win rate of 64 %.

- *Pool*: ratings are relative, so only systems that are linked by comparisons share a scale. The pool is the largest
  set of systems so linked; the mean of its ratings is 1000. A system outside gets no rating, and its `pool` says why.
- *Pseudo-tie*: each pair of the pool that met on some sample is given one more comparison, a tie: half a win to either
  side. So a system that never lost stays finite, and every bootstrap draw stays linked. It pulls ratings together
  slightly, by one comparison against the hundred or more that a pair has in a published collection.
- *Interval*: 2.5 and 97.5 percentiles of 1,000 bootstrap draws. A draw takes, within each dataset, as many sample keys
  as there are, with replacement; every comparison on a key comes along with it, because they share the question.
  Where a dataset has a single sample, or no draw differs from another, there is no interval and there are no rank
  bounds, and `pool` says so: a dataset of one sample has an unknown spread, not none, and what all draws agree on is
  not certain.
- *Seed*: made from the names of what is rated (`seed_for`), so the draws repeat wherever and whenever it is rated.

Source: Bradley & Terry (1952); Hunter, "MM algorithms for generalized Bradley-Terry models" (2004), for the condition
of linked systems; the scale is Elo's. Pure functions; which groups are valid and rated together is the caller's affair.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipelines.statistics.ranking import competition_ranks, missing_support, rank_bounds

#: Scores that differ by no more than this are a tie.
TIE = 1e-9
#: The comparisons added to each pair that met, half a win to each side.
PSEUDO_TIES = 1
#: Bootstrap draws behind an interval, and the percentiles that bound it.
N_DRAWS = 1000
PERCENTILES = (2.5, 97.5)
#: Mean rating of a pool, and rating points for odds of 10 to 1.
POOL_MEAN = 1000.0
POINTS_PER_DECADE = 400.0
#: Part of every seed. Another number gives other, equally good draws.
SEED = 20260601
#: Published ratings are rounded here: beyond, they may depend on how many threads added the numbers up.
DECIMALS = 7
#: Draws that differ by no more than this many points are the same.
_NO_SPREAD = 1e-6

#: Names of one system, (backbone, baseline).
System = tuple[str, ...]

_POINTS = POINTS_PER_DECADE / math.log(10)
#: The last step of `_solve`, in natural log of odds; what then remains is smaller still.
_CONVERGED = 1e-12
#: The last step of Newton's method: what then remains is of the order of its square.
_NEWTON_CONVERGED = 1e-7
_MAX_NEWTON_STEPS = 200
_BATCH = 300_000  # numbers in the largest array that a batch of draws needs; a few of them fit a processor's cache


@dataclass(frozen=True)
class Rating:
    """The rating of one system, in rating points. All figures but the counts are None where it is not in the pool; the
    interval and the rank bounds also where the pool has none."""

    system: System
    rating: float | None
    """From all samples, each once."""
    low: float | None
    """2.5 percentile of the draws."""
    high: float | None
    """97.5 percentile of the draws."""
    rank: int | None
    """1 for the highest rating in the pool; equal ratings share a rank."""
    rank_low: int | None
    """The best rank it may have: 1 + the number of systems whose interval lies wholly above its own."""
    rank_high: int | None
    """The worst rank it may have: the pool's size less the number of systems whose interval lies wholly below."""
    n_samples: int
    """Samples on which it was compared with anyone in its pool."""
    n_comparisons: int
    """Comparisons that it took part in there, one for each sample and opponent; pseudo-ties are not counted."""
    pool: str
    """What it was rated against; where it was not rated, why not."""


@dataclass(frozen=True)
class Ratings:
    """The ratings of one collection, or of a split over its collections.

    `ratings` has every system that was passed, sorted by name. `pool` names the rated ones, sorted; `draws` has their
    rating in each draw, shape (n_draws, len(pool)), not rounded. `seed` is what the draws were made from (None over
    several collections: each has its own). `no_interval` says why the draws make no interval; None where they do.
    `no_pool` says why nobody is rated; None where someone is.
    """

    ratings: tuple[Rating, ...]
    pool: tuple[System, ...]
    draws: NDArray[np.float64]
    seed: int | None
    no_interval: str | None = None
    no_pool: str | None = None


def seed_for(*names: str) -> int:
    """A seed of 0 to 2^63 - 1 from the names of what is rated (experiment, split, collection, protocol).

    The same on every machine, for every run and every version of Python; other names give other draws.
    """
    text = "\x1f".join((str(SEED), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


def rate(
    scores: ArrayLike,
    systems: Sequence[System],
    samples: Sequence[tuple[str, int]],
    *,
    seed: int,
    n_draws: int = N_DRAWS,
) -> Ratings:
    """Rate the systems of one collection on their common samples.

    Args:
        scores: published scores, shape (len(samples), len(systems)), in any unit and for each sample in its own: only
            the order within a row counts. NaN is missing; an infinite score is left out like a missing one.
        systems: the names, all different.
        samples: the keys (dataset, test_idx), all different; draws are taken within a dataset.
        seed: from `seed_for`.
        n_draws: bootstrap draws.

    Neither the order of systems nor that of samples changes the result. Raises ValueError where shapes differ or a
    name or key occurs twice. The time goes with draws × systems², so collections of 30 systems take tenths of a second.
    """
    table = np.array(scores, dtype=np.float64)
    if table.shape != (len(samples), len(systems)):
        raise ValueError(f"scores have the shape {table.shape}, not ({len(samples)} samples, {len(systems)} systems)")
    if len(set(systems)) < len(systems) or len(set(samples)) < len(samples):
        raise ValueError("a system or a sample occurs twice")
    columns = sorted(range(len(systems)), key=lambda i: systems[i])
    rows = sorted(range(len(samples)), key=lambda i: samples[i])
    table = table[np.ix_(rows, columns)]
    names = [systems[i] for i in columns]
    datasets = [samples[i][0] for i in rows]
    table[~np.isfinite(table)] = np.nan

    components = _components(np.isfinite(table))
    pool = components[0] if components and len(components[0]) > 1 else []
    fit = _fit_pool(table[:, pool], datasets, seed, n_draws) if pool else np.empty((n_draws + 1, 0))
    compared = np.isfinite(table[:, pool]).sum(axis=1) > 1
    no_interval = _no_interval([name for name, keep in zip(datasets, compared, strict=True) if keep], fit[1:])
    figures = dict(zip(pool, _summarise(fit[0], fit[1:], no_interval), strict=True))

    no_pool = None if pool else _no_pool(table)
    described = _described(f"{len(pool)} systems on {int(compared.sum())} samples", no_interval)
    ratings = []
    for component in components:
        finite = np.isfinite(table[:, component])
        opponents = finite.sum(axis=1) - 1
        for place, i in enumerate(component):
            rating, low, high, rank, rank_low, rank_high = figures.get(i, (None,) * 6)
            ratings.append(
                Rating(
                    system=names[i],
                    rating=rating,
                    low=low,
                    high=high,
                    rank=rank,
                    rank_low=rank_low,
                    rank_high=rank_high,
                    n_samples=int((finite[:, place] & (opponents > 0)).sum()),
                    n_comparisons=int(opponents[finite[:, place]].sum()),
                    pool=described if i in figures else f"not rated: {no_pool or _why_not(component, pool)}",
                )
            )
    return Ratings(
        ratings=tuple(sorted(ratings, key=lambda r: r.system)),
        pool=tuple(names[i] for i in pool),
        draws=fit[1:],
        seed=seed,
        no_interval=no_interval,
        no_pool=no_pool,
    )


def overall(collections: Mapping[str, Ratings]) -> Ratings:
    """The overall ratings in one split: the mean over its collections, draw by draw, for systems rated in all of them.

    `collections` has the ratings of each collection of one split, by its name, all with the same number of draws.
    A collection that rates nobody (fewer than two systems were compared) is left out for all, and `pool` does not name
    it. Where one of them has no interval there is none overall. A system that some other collection lacks gets no
    overall rating, and its `pool` says which. The mean is not centred again: where pools differ, 1000 is the mean of
    no one set, but differences between systems stand. `n_samples` and `n_comparisons` are sums. Raises ValueError
    where the numbers of draws differ.
    """
    used = {name: collections[name] for name in sorted(collections) if collections[name].pool}
    covered: dict[System, list[str]] = {r.system: [] for c in collections.values() for r in c.ratings}
    for name, collection in used.items():
        for system in collection.pool:
            covered[system].append(name)
    lacks = missing_support(covered)
    pool = sorted(system for system in covered if used and not lacks[system])
    n_draws = {len(collection.draws) for collection in used.values()}
    if len(n_draws) > 1:
        raise ValueError("collections have different numbers of draws")

    fits = []
    counts: dict[System, tuple[int, int]] = {}
    for collection in used.values():
        by_name = {r.system: r for r in collection.ratings}
        place = {system: i for i, system in enumerate(collection.pool)}
        centre = np.array([[by_name[system].rating for system in pool]], dtype=np.float64)
        fits.append(np.concatenate((centre, collection.draws[:, [place[system] for system in pool]])))
        for r in collection.ratings:
            samples, comparisons = counts.get(r.system, (0, 0))
            counts[r.system] = samples + r.n_samples, comparisons + r.n_comparisons
    fit = np.mean(fits, axis=0) if fits else np.empty((1, 0))
    unknown = [name for name, collection in used.items() if collection.no_interval]
    no_interval = f"there is none in {', '.join(unknown)}" if unknown else None
    figures = dict(zip(pool, _summarise(fit[0], fit[1:], no_interval), strict=True))

    no_pool = None if used else _no_pool_anywhere(collections)
    described = _described(f"{len(pool)} systems over {', '.join(used)}", no_interval)
    ratings = []
    for system in sorted(covered):
        rating, low, high, rank, rank_low, rank_high = figures.get(system, (None,) * 6)
        n_samples, n_comparisons = counts.get(system, (0, 0))
        if system in figures:
            text = described
        elif used:
            text = f"not rated: no rating in {', '.join(lacks[system])}"
        else:
            text = f"not rated: {no_pool}"
        ratings.append(Rating(system, rating, low, high, rank, rank_low, rank_high, n_samples, n_comparisons, text))
    return Ratings(tuple(ratings), tuple(pool), fit[1:], None, no_interval, no_pool)


def _no_interval(datasets: Sequence[str], draws: NDArray[np.float64]) -> str | None:
    """Why draws of the compared samples, of which `datasets` names each one's dataset, tell nothing of their spread."""
    single = sorted(name for name, count in Counter(datasets).items() if count == 1)
    if single:
        more = f" and {len(single) - 1} more datasets have" if len(single) > 1 else " has"
        return f"{single[0]}{more} a single sample"
    if draws.size and np.ptp(draws, axis=0).max() <= _NO_SPREAD:
        return "every draw gives the same"
    return None


def _no_pool(table: NDArray[np.float64]) -> str:
    """Why no two systems, the columns of `table`, were compared."""
    n_systems = table.shape[1]
    n_scored = int(np.isfinite(table).any(axis=0).sum())
    if not n_scored:
        return "no usable scores of single samples are published"  # none at all, none of a known sample, or none finite
    if n_systems == 1:
        return "there is no second system to compare"
    if n_scored == 1:
        return "usable scores of single samples are published of one system alone"
    return "no two systems have a sample in common"


def _no_pool_anywhere(collections: Mapping[str, Ratings]) -> str:
    """Why no collection rates anybody; where it is not one reason for all, with the collections of each."""
    found: dict[str, list[str]] = {}
    for name in sorted(collections):
        if collections[name].ratings and (why := collections[name].no_pool):
            found.setdefault(why, []).append(name)
    if len(found) < 2:
        return "".join(found)
    return "; ".join(f"in {', '.join(names)} {why}" for why, names in found.items())


def _described(pool: str, no_interval: str | None) -> str:
    return f"{pool}; no interval: {no_interval}" if no_interval else pool


def _components(present: NDArray[np.bool_]) -> list[list[int]]:
    """The systems (columns) in sets that are linked by common samples, the pool first.

    The pool has the most systems; among equals the most comparisons, then the first name.
    """
    counts = present.astype(np.float64)
    met = (counts.T @ counts) > 0
    left = set(range(present.shape[1]))
    components = []
    while left:
        component, frontier = set[int](), [min(left)]
        while frontier:
            system = frontier.pop()
            if system in left:
                left.remove(system)
                component.add(system)
                frontier += np.flatnonzero(met[system]).tolist()
        components.append(sorted(component))

    def order(component: list[int]) -> tuple[int, int, int]:
        together = present[:, component].sum(axis=1)
        return -len(component), -int((together * (together - 1)).sum()), component[0]

    return sorted(components, key=order)


def _why_not(component: list[int], pool: list[int]) -> str:
    n_others = len(component) - 1
    others = f", only with {n_others} other{'s' * (n_others > 1)}" if n_others else ""
    return f"no sample in common with the pool of {len(pool)} systems{others}"


def _fit_pool(table: NDArray[np.float64], datasets: list[str], seed: int, n_draws: int) -> NDArray[np.float64]:
    """Ratings of a linked pool, shape (1 + n_draws, systems): first from all samples, then of each draw.

    A draw's likelihood depends on each system's wins and on the games of each pair alone, so no array has a number for
    each sample or draw and pair but those of one batch of draws: memory does not grow with the square of the systems.
    """
    present = np.isfinite(table)
    compared = present.sum(axis=1) > 1
    table, present = table[compared], present[compared]
    datasets = [name for name, keep in zip(datasets, compared, strict=True) if keep]
    n_systems = table.shape[1]
    points = _points(table)
    # Systems that answered the same samples share their games, so there are few kinds of them to count.
    kinds, kind = np.unique(present.astype(np.float32), axis=1, return_inverse=True)
    together = kinds.T @ kinds > 0
    met = together[kind[:, None], kind] & ~np.eye(n_systems, dtype=bool)
    ties = PSEUDO_TIES * met.astype(np.float64)

    weights = np.concatenate((np.ones((1, len(table)), dtype=np.float32), _resample(datasets, seed, n_draws)))
    start = np.zeros((1, n_systems))
    fits = []
    batch = max(1, _BATCH // n_systems**2)
    for low, high in [(0, 1), *((i, i + batch) for i in range(1, len(weights), batch))]:
        draws = weights[low:high]
        wins = draws.astype(np.float64) @ points + ties.sum(axis=1) / 2
        drawn = np.stack([(kinds.T * draw) @ kinds for draw in draws])
        games = drawn[:, kind[:, None], kind] * met + ties
        fit = _solve(wins, games, start)
        if low == 0:
            start = fit
        fits.append(fit)
    strengths = np.concatenate(fits)
    return POOL_MEAN + _POINTS * (strengths - strengths.mean(axis=1, keepdims=True))


def _points(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many others each system beats on each sample, shape (samples, systems); a tie is half a win."""
    points = np.empty_like(table)
    with np.errstate(over="ignore", invalid="ignore"):  # a difference past the largest float is a win all the same
        for system in range(table.shape[1]):
            difference = table[:, [system]] - table
            wins = (difference > TIE).sum(axis=1)
            ties = (np.abs(difference) <= TIE).sum(axis=1) - 1  # less the one with itself
            points[:, system] = np.where(np.isfinite(table[:, system]), wins + ties / 2, 0)
    return points


def _resample(datasets: list[str], seed: int, n_draws: int) -> NDArray[np.float32]:
    """How often each sample is drawn, shape (n_draws, samples), each dataset giving as many as it has.

    `datasets` is sorted.
    """
    generator = np.random.default_rng(seed)
    counts = np.zeros((n_draws, len(datasets)), dtype=np.float32)
    begin = 0
    while begin < len(datasets):
        end = begin + datasets.count(datasets[begin])
        size = end - begin
        drawn = generator.integers(size, size=(n_draws, size)) + np.arange(n_draws)[:, None] * size
        counts[:, begin:end] = np.bincount(drawn.ravel(), minlength=n_draws * size).reshape(n_draws, size)
        begin = end
    return counts


def _solve(wins: NDArray[np.float64], games: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Maximum-likelihood strengths (natural log of odds, mean 0) of every row of `wins`, shape (rows, systems).

    `games`, shape (rows, systems, systems), has those of each pair in both of its places. Draws lie close to `start`,
    the solution for all samples, so its curvature serves all rows for as long as each step is less than half the one
    before. Rows for which it does not are finished by Newton's method.
    """
    strengths = np.repeat(start, len(wins), axis=0)
    mean = games.mean(axis=0, keepdims=True)
    inverse = np.linalg.inv(_curvature(mean, _win_rates(start))[0])
    left, rest, before = np.arange(len(wins)), [np.empty(0, dtype=np.intp)], np.full(len(wins), np.inf)
    while len(left):
        step = _slope(wins[left], games[left], _win_rates(strengths[left])) @ inverse
        size = np.ptp(step, axis=1)
        closer = size < before / 2
        rest.append(left[~closer])
        strengths[left[closer]] += step[closer]
        going_on = closer & (size > _CONVERGED)
        left, before = left[going_on], size[going_on]
    left = np.concatenate(rest)
    if len(left):
        strengths[left] = _newton(wins[left], games[left], strengths[left])
    return strengths - strengths.mean(axis=1, keepdims=True)


def _newton(
    wins: NDArray[np.float64], games: NDArray[np.float64], strengths: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The same from any `strengths`, shape (rows, systems).

    A step whose largest change of a pair's log odds is M is shortened to log(1 + M)/M of itself: so the likelihood
    never falls, and near the solution the whole step is taken. Source: Bach, "Self-concordant analysis for logistic
    regression" (2010).
    """
    for _ in range(_MAX_NEWTON_STEPS):
        rates = _win_rates(strengths)
        step = np.linalg.solve(_curvature(games, rates), _slope(wins, games, rates)[:, :, None])[:, :, 0]
        size = np.maximum(np.ptp(step, axis=1, keepdims=True), 1e-300)
        strengths = strengths + step * (np.log1p(size) / size)
        if size.max() <= _NEWTON_CONVERGED:
            return strengths
    raise ArithmeticError(f"ratings did not converge in {_MAX_NEWTON_STEPS} steps")


def _win_rates(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability that one beats the other, shape (rows, systems, systems)."""
    rates = strengths[:, None, :] - strengths[:, :, None]
    with np.errstate(over="ignore"):  # infinite odds are a rate of 0
        np.exp(rates, out=rates)
    rates += 1
    return np.divide(1, rates, out=rates)


def _slope(wins: NDArray[np.float64], games: NDArray[np.float64], rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log likelihood's gradient, shape (rows, systems): wins less those expected."""
    return wins - np.einsum("rij,rij->ri", games, rates)


def _curvature(games: NDArray[np.float64], rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The negative Hessian of each row, shape (rows, systems, systems), made invertible.

    Adding 1 everywhere takes away the one direction, all strengths alike, that changes nothing.
    """
    weights = games * rates * (1 - rates)
    curvature = 1 - weights
    diagonal = np.arange(weights.shape[1])
    curvature[:, diagonal, diagonal] += weights.sum(axis=2)
    return curvature


def _summarise(
    centre: NDArray[np.float64], draws: NDArray[np.float64], no_interval: str | None
) -> list[tuple[float, float | None, float | None, int | None, int | None, int | None]]:
    """rating, low, high, rank, rank_low, rank_high of each system of a pool, rounded as published."""
    if not len(centre):
        return []
    rating = np.round(centre, DECIMALS)
    if no_interval:
        ranked = zip(rating.tolist(), competition_ranks(rating.tolist()), strict=True)
        return [(value, None, None, rank, None, None) for value, rank in ranked]
    low, high = np.round(np.percentile(draws, PERCENTILES, axis=0), DECIMALS)
    rank_low, rank_high = rank_bounds(low, high)
    ranks = competition_ranks(rating.tolist())
    return list(
        zip(rating.tolist(), low.tolist(), high.tolist(), ranks, rank_low.tolist(), rank_high.tolist(), strict=True)
    )
