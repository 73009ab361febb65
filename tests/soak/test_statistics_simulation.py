"""What the intervals and rank bounds are worth, by simulation with the sizes of the published collections.

The figures stand in `docs/statistics-simulation.md`, and the tests check them against what is measured. To print the
tables of that page anew: `python -m tests.soak.test_statistics_simulation`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pipelines.statistics.gains import gain_test
from pipelines.statistics.ratings import overall, rate, seed_for

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1200)]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics-simulation.md"

LOCOMO = {f"Locomo-{i}": 5 for i in range(10)}
DIALSIM = {"DialSim-friends": 17, "DialSim-bigbang": 17, "DialSim-theoffice": 17}
#: Samples of each dataset in the published collections.
COLLECTIONS = {
    "domain/Academic&Knowledge": {
        "HelloBench-Academic&Knowledge-QA": 43, "HelloBench-Academic&Knowledge-Writing": 17, "IdeaBench": 50,
        "JRE-L": 50, "LimitGen-Syn": 50, "WritingBench-Academic&Engineering": 34,
    },
    "domain/Legal": {
        "JuDGE": 50, "LexEval-Summarization": 50, "LexEval-Judge": 50, "LexEval-QA": 50, "WritingBench-Politics&Law": 41,
    },
    "domain/Open-Domain": {
        **LOCOMO, **DIALSIM, "HelloBench-Creative&Design": 46, "WritingPrompts": 50, "WritingBench-Creative&Design": 50,
        "NFCats": 50,
    },
    "task/Long-Long": {
        "LexEval-Judge": 50, "WritingBench-Politics&Law": 41, "HelloBench-Academic&Knowledge-Writing": 17,
        "WritingBench-Academic&Engineering": 34, "HelloBench-Creative&Design": 46, "WritingBench-Creative&Design": 50,
    },
    "task/Long-Short": {**LOCOMO, **DIALSIM, "LexEval-Summarization": 50, "IdeaBench": 50, "LimitGen-Syn": 50},
    "task/Short-Long": {"JuDGE": 50, "HelloBench-Academic&Knowledge-QA": 43, "WritingPrompts": 50},
    "task/Short-Short": {"LexEval-QA": 50, "JRE-L": 50, "NFCats": 50},
}  # fmt: skip

N_GAINS = 2000
N_RATINGS = 100
N_SYSTEMS = 16
#: Share of the variance of differences that lies between datasets.
CLUSTER_EFFECTS = (0.0, 0.1, 0.5)

Row = dict[str, float]


def scores_of(dataset: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Min-max scores of the kind that the dataset has, for samples of unlike difficulty, shape (draws, samples)."""
    ease = rng.normal(size=(1, shape[1]))
    ability = ease + rng.normal(size=shape)
    if dataset.startswith("DialSim"):
        return (ability > 0.5).astype(float)
    if dataset.startswith(("WritingBench", "NFCats", "IdeaBench", "LimitGen", "JRE-L", "JuDGE")):
        return np.clip(np.round(5 + 1.5 * ability), 1, 9) / 8 - 1 / 8
    if dataset.startswith("Locomo"):
        return np.where(ability < -0.5, 0, 1 / (1 + np.exp(-ability)))
    return np.clip(0.3 + 0.08 * ability, 0, 1)


@cache
def gain_figures(collection: str, effect: float) -> Row:
    """Shares of 2,000 draws without a true gain in which each interval covers its target."""
    sizes = COLLECTIONS[collection]
    rng = np.random.default_rng(seed_for("gains", collection))
    clusters = [name for name, size in sizes.items() for _ in range(size)]
    groups = ["Locomo" if name.startswith("Locomo") else name for name in clusters]
    differences = []
    for name, size in sizes.items():
        # The same samples, and so the same difficulties, for both systems.
        both = scores_of(name, (2 * N_GAINS, size), rng)
        differences.append(both[:N_GAINS] - both[N_GAINS:])
    spread = np.sqrt(np.concatenate(differences, axis=1).var() * effect / (1 - effect))
    shifts = rng.normal(size=(N_GAINS, len(sizes))) * spread
    d = np.concatenate([part + shifts[:, [i]] for i, part in enumerate(differences)], axis=1)
    realised = shifts @ np.array(list(sizes.values())) / d.shape[1]
    no = np.zeros(d.shape[1], dtype=bool)
    covered = {"these datasets": 0, "stratified": 0, "clustered": 0, "CR2": 0, "sign flips": 0}
    for draw, true in zip(d, realised, strict=True):
        t = gain_test(draw, groups, clusters, no, no)
        covered["these datasets"] += t.ci_low <= true <= t.ci_high
        covered["stratified"] += t.ci_low <= 0 <= t.ci_high
        covered["clustered"] += t.ci_clustered_low <= 0 <= t.ci_clustered_high
        covered["CR2"] += t.ci_clustered_cr2_low <= 0 <= t.ci_clustered_cr2_high
        covered["sign flips"] += t.p_clustered > 0.05
    return {name: 100 * count / N_GAINS for name, count in covered.items()}


def simulated_ratings(collection: str, strengths: np.ndarray, repeat: int, grid: float):
    """Ratings of systems whose chance to win is exactly Bradley-Terry's for these strengths (log odds), but for ties."""
    rng = np.random.default_rng([seed_for("ratings", collection), repeat])
    samples = [(name, i) for name, size in COLLECTIONS[collection].items() for i in range(size)]
    scores = strengths + rng.gumbel(size=(len(samples), len(strengths)))
    if grid:
        scores = np.round(scores / grid) * grid
    systems = [(f"s{i:02}",) for i in range(len(strengths))]
    return rate(scores, systems, samples, seed=seed_for(collection, str(repeat)))


def random_strengths(repeat: int) -> np.ndarray:
    """16 systems about as far apart as published ones: a standard deviation of 50 rating points."""
    return np.random.default_rng(repeat).normal(size=N_SYSTEMS) * 50 * np.log(10) / 400


def share_of_bounds_that_hold(result, strengths: np.ndarray) -> tuple[float, bool]:
    true = 1 + (strengths[None, :] > strengths[:, None]).sum(axis=1)
    held = [r.rank_low <= rank <= r.rank_high for r, rank in zip(result.ratings, true, strict=True)]
    return float(np.mean(held)), all(held)


@cache
def rating_figures(collection: str) -> Row:
    covered, bounds, all_bounds, tied_bounds, width, right = [], [], [], [], [], []
    for repeat in range(N_RATINGS):
        strengths = random_strengths(repeat)
        result = simulated_ratings(collection, strengths, repeat, 0)
        true = 1000 + (strengths - strengths.mean()) * 400 / np.log(10)
        covered += [r.low <= t <= r.high for r, t in zip(result.ratings, true, strict=True)]
        held, every = share_of_bounds_that_hold(result, strengths)
        bounds.append(held)
        all_bounds.append(every)
        width += [r.rank_high - r.rank_low + 1 for r in result.ratings]
        tied_bounds.append(
            share_of_bounds_that_hold(simulated_ratings(collection, strengths, repeat, 0.5), strengths)[0]
        )
        apart = simulated_ratings(collection, np.arange(8) * 100 * np.log(10) / 400, repeat, 0)
        right.append([r.rank for r in apart.ratings] == list(range(8, 0, -1)))
    return {
        "right order": 100 * float(np.mean(right)),
        "interval": 100 * float(np.mean(covered)),
        "bounds": 100 * float(np.mean(bounds)),
        "bounds with ties": 100 * float(np.mean(tied_bounds)),
        "all bounds": 100 * float(np.mean(all_bounds)),
        "ranks left open": float(np.mean(width)),
    }


@cache
def overall_figures(split: str) -> Row:
    bounds, all_bounds, width = [], [], []
    for repeat in range(N_RATINGS):
        strengths = random_strengths(repeat)
        rated = {c: simulated_ratings(c, strengths, repeat, 0) for c in COLLECTIONS if c.startswith(split)}
        result = overall(rated)
        held, every = share_of_bounds_that_hold(result, strengths)
        bounds.append(held)
        all_bounds.append(every)
        width += [r.rank_high - r.rank_low + 1 for r in result.ratings]
    return {
        "bounds": 100 * float(np.mean(bounds)),
        "all bounds": 100 * float(np.mean(all_bounds)),
        "ranks left open": float(np.mean(width)),
    }


def measured_tables() -> dict[str, list[tuple[str, Row]]]:
    """The tables of the page: heading of the first column, then rows."""
    tables = {
        f"Between datasets: {effect:.0%} of the variance": [(c, gain_figures(c, effect)) for c in COLLECTIONS]
        for effect in CLUSTER_EFFECTS
    }
    tables["Ratings of a collection"] = [(c, rating_figures(c)) for c in COLLECTIONS]
    tables["Overall ratings of a split"] = [(s, overall_figures(s)) for s in ("domain", "task")]
    return tables


def rendered(heading: str, rows: list[tuple[str, Row]]) -> str:
    columns = list(rows[0][1])
    lines = [f"| {heading} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(f'{figures[c]:.1f}' for c in columns)} |" for name, figures in rows]
    return "\n".join(lines)


@pytest.mark.parametrize("effect", CLUSTER_EFFECTS)
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_the_stratified_interval_covers_what_it_speaks_of(collection, effect):
    figures = gain_figures(collection, effect)
    assert 93 <= figures["these datasets"] <= 97
    if effect == 0:
        assert figures["these datasets"] == figures["stratified"]


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_cr2_covers_no_less_than_the_plain_clustered_interval(collection):
    for effect in CLUSTER_EFFECTS:
        figures = gain_figures(collection, effect)
        assert figures["CR2"] >= figures["clustered"] - 0.5
        assert figures["CR2"] >= 92


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_sign_flips_reject_no_more_than_they_claim(collection):
    for effect in CLUSTER_EFFECTS:
        assert gain_figures(collection, effect)["sign flips"] >= 93.5


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_ratings_rank_right_and_their_bounds_hold(collection):
    figures = rating_figures(collection)
    assert figures["right order"] >= 95
    assert 93 <= figures["interval"] <= 97
    assert figures["bounds"] >= 95
    assert figures["bounds with ties"] >= 95


@pytest.mark.parametrize("split", ["domain", "task"])
def test_overall_bounds_hold(split):
    assert overall_figures(split)["bounds"] >= 95


def test_the_page_tells_what_is_measured():
    page = PAGE.read_text(encoding="utf-8")
    for heading, rows in measured_tables().items():
        told = page.split(f"| {heading} |")[1]
        for name, figures in rows:
            line = next(line for line in told.splitlines() if line.startswith(f"| {name} |"))
            numbers = [float(cell) for cell in re.split(r" *\| *", line)[2:-1]]
            # Another numpy may draw other numbers: two shares of 2,000, or of 100, still lie this close.
            assert numbers == pytest.approx(list(figures.values()), abs=5), (heading, name)


if __name__ == "__main__":
    print("\n\n".join(rendered(heading, rows) for heading, rows in measured_tables().items()))
