"""The rows of gain_tests and ratings: which samples and systems are compared, and what is said where none can be.

Pure functions over scores in memory; the figures themselves are `gains.py` and `ratings.py`. Only published scores
count (`origin` published): a score that was derived from a metric is not what the published tables are made of. Groups
of different protocols never meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.statistics.gains import GainTest, can_be_tested, gain_test, holm
from pipelines.statistics.ratings import N_DRAWS, PSEUDO_TIES, TIE, Rating, Ratings, System, overall, rate, seed_for
from schemas.reference.runner import NO_MEMORY

TIE_RULE = f"scores that differ by at most {TIE:g} count half; {PSEUDO_TIES} tie added for each pair that met"
#: How many datasets a reason names before it only counts them.
_NAMED = 3

Row = dict[str, Any]


class Group(NamedTuple):
    """What is known of a result group without its scores. `files` is the JSON list with their digests."""

    experiment: str
    backbone: str
    split: str
    collection: str
    baseline: str
    group_id: str
    files: str
    validity: str | None
    validity_reasons: str | None

    @property
    def is_invalid(self) -> bool:
        return self.validity == "invalid"

    @property
    def why_invalid(self) -> str:
        return self.validity_reasons or "no reason was recorded"


class FamilyKey(NamedTuple):
    """The gains that are adjusted together."""

    experiment: str
    backbone: str
    split: str
    collection: str
    protocol: str


class SplitKey(NamedTuple):
    """The systems that are rated together."""

    experiment: str
    split: str
    protocol: str


@dataclass(frozen=True)
class Scores:
    """The published scores of one group under one protocol, all of known samples, in the order of `samples`.

    `minmax` is NaN where the score is not finite, and where `has_constants` is false.
    """

    samples: list[tuple[str, int]]
    dataset_groups: list[str]
    score: NDArray[np.float64]
    minmax: NDArray[np.float64]
    has_constants: NDArray[np.bool_]
    failed: NDArray[np.bool_]


#: By group_id, of one protocol. A group without published scores is not in it.
ScoresByGroup = Mapping[str, Scores]


def gain_rows(key: FamilyKey, groups: Sequence[Group], scores: ScoresByGroup, digest: str) -> list[Row]:
    """The rows of gain_tests of one family: `groups` are all that were scored under its protocol, wo_memory too.

    An excluded gain is computed where it can be, and is no part of the family that Holm adjusts.
    """
    reference = next((group for group in groups if group.baseline == NO_MEMORY), None)
    baselines = sorted((g for g in groups if g.baseline != NO_MEMORY), key=lambda g: g.baseline)
    tests = [_compare(group, reference, scores) for group in baselines]
    included = [test for test, excluded in tests if excluded is None]
    adjusted = iter(holm([test.p_stratified for test in included]))
    adjusted_clustered = iter(holm([test.p_clustered for test in included]))
    testable = iter(can_be_tested([test.p_min for test in included]))
    rows = []
    for group, (test, excluded) in zip(baselines, tests, strict=True):
        counts = excluded is None
        rows.append(
            {
                **_keys(group),
                "group_id": group.group_id,
                "protocol": key.protocol,
                "reference_group_id": reference.group_id if reference else None,
                "excluded": excluded,
                **asdict(test),
                "p_stratified_holm": next(adjusted) if counts else None,
                "p_clustered_holm": next(adjusted_clustered) if counts else None,
                "testable": next(testable) if counts else False,
                "n_family": len(included),
                "inputs_digest": digest,
            }
        )
    return rows


def _keys(group: Group) -> Row:
    return dict(zip(Group._fields[:5], group[:5], strict=True))


def _compare(group: Group, reference: Group | None, scores: ScoresByGroup) -> tuple[GainTest, str | None]:
    """The gain of a group, and why it does not count."""
    reasons = []
    if group.is_invalid:
        reasons.append(f"{group.baseline} is invalid: {group.why_invalid}")
    if reference is None:
        reasons.append(f"there is no {NO_MEMORY} to compare with")
    elif reference.is_invalid:
        reasons.append(f"{NO_MEMORY} is invalid: {reference.why_invalid}")
    own, other = scores.get(group.group_id), scores.get(reference.group_id) if reference else None
    if own is None or other is None:
        if reference is not None:
            reasons.append("no sample has a published score on both sides")
        return gain_test([], [], [], [], []), "; ".join(reasons)
    place = {sample: i for i, sample in enumerate(other.samples)}
    pairs = [(i, place[sample]) for i, sample in enumerate(own.samples) if sample in place]
    mine, theirs = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    unknown = ~own.has_constants[mine]
    if not pairs:
        reasons.append("no sample has a published score on both sides")
    elif unknown.any():
        reasons.append(_no_constants({own.dataset_groups[i] for i in mine[unknown]}, all_of_them=bool(unknown.all())))
    mine, theirs = mine[~unknown], theirs[~unknown]
    test = gain_test(
        own.minmax[mine] - other.minmax[theirs],
        [own.dataset_groups[i] for i in mine],
        [own.samples[i][0] for i in mine],
        own.failed[mine],
        other.failed[theirs],
    )
    if not test.n and not reasons:
        reasons.append("no difference is finite")
    return test, "; ".join(reasons) or None


def _no_constants(datasets: Iterable[str], *, all_of_them: bool) -> str:
    names = sorted(datasets)
    if all_of_them:
        return "the normalisation constants are not known"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"the normalisation constants of {', '.join(names[:_NAMED])}{more} are not known"


def rating_rows(key: SplitKey, groups: Sequence[Group], scores: ScoresByGroup, digest: str) -> list[Row]:
    """The rows of ratings of one split: each of its collections, and overall. `groups` are all that were scored under
    its protocol; invalid ones have a row, and no rating."""
    by_collection: dict[str, list[Group]] = {}
    for group in groups:
        by_collection.setdefault(group.collection, []).append(group)
    rows: list[Row] = []
    rated: dict[str, Ratings] = {}
    left_out: dict[System, list[str]] = {}
    for collection, members in sorted(by_collection.items()):
        invalid = [group for group in members if group.is_invalid]
        seed = seed_for(key.experiment, key.split, collection, key.protocol)
        found = _rate([group for group in members if not group.is_invalid], scores, seed)
        rated[collection] = found
        excluded = [
            _not_rated((g.backbone, g.baseline), f"not rated: the group is invalid: {g.why_invalid}") for g in invalid
        ]
        rows += _rows(key, collection, found, excluded, digest)
        for group in invalid:
            left_out.setdefault((group.backbone, group.baseline), []).append(collection)
    found = overall(rated)
    known = {rating.system for rating in found.ratings}
    excluded = [
        _not_rated(system, f"not rated: invalid in {', '.join(collections)}")
        for system, collections in left_out.items()
        if system not in known
    ]
    return [*_rows(key, None, found, excluded, digest), *rows]


def _rate(groups: Sequence[Group], scores: ScoresByGroup, seed: int) -> Ratings:
    systems: list[System] = [(group.backbone, group.baseline) for group in groups]
    having = [scores.get(group.group_id) for group in groups]
    samples = sorted({sample for one in having if one is not None for sample in one.samples})
    place = {sample: i for i, sample in enumerate(samples)}
    table = np.full((len(samples), len(systems)), np.nan)
    for column, one in enumerate(having):
        if one is not None:
            table[[place[sample] for sample in one.samples], column] = one.score
    return rate(table, systems, samples, seed=seed)


def _not_rated(system: System, why: str) -> Rating:
    return Rating(system, None, None, None, None, None, None, 0, 0, why)


def _rows(key: SplitKey, collection: str | None, found: Ratings, excluded: Iterable[Rating], digest: str) -> list[Row]:
    return [
        {
            "experiment": key.experiment,
            "split": key.split,
            "collection": collection,
            "backbone": rating.system[0],
            "baseline": rating.system[1],
            "protocol": key.protocol,
            "rating": rating.rating,
            "rating_low": rating.low,
            "rating_high": rating.high,
            "rank": rating.rank,
            "rank_low": rating.rank_low,
            "rank_high": rating.rank_high,
            "n_samples": rating.n_samples,
            "n_comparisons": rating.n_comparisons,
            "n_pool": len(found.pool),
            "pool": rating.pool,
            "tie_rule": TIE_RULE,
            "n_draws": N_DRAWS,
            "seed": found.seed,
            "inputs_digest": digest,
        }
        for rating in sorted([*found.ratings, *excluded], key=lambda rating: rating.system)
    ]
