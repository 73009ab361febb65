"""What a memory system gains over answering without memory: paired differences, their intervals and tests.

Pure functions over arrays; which samples are paired, and which groups are left out, is the caller's business. Two
questions are kept apart. *On these datasets*: would the gain hold for other samples of the same datasets? That is the
stratified interval, and significance marks come from it. *To other datasets*: would it hold for datasets that the
benchmark does not have? That is what the clustered figures say, as far as a handful of datasets can say it.

Source: Miller, "Adding Error Bars to Evals" (2024), for pairing, clustering and the names of both questions;
`docs/statistics-simulation.md` has the measured coverage of each interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Scores that differ by no more than this are equal. A standard error of no more than this is no spread at all.
TIE = 1e-9
#: Slack when sums of signed cluster sums are compared with the observed one: covers rounding, and nothing else.
SIGN_FLIP_SLACK = 1e-12
#: Up to this many clusters all sign flips are counted (two halves of 2^20 sums each); beyond, no p is given.
MAX_SIGN_FLIP_CLUSTERS = 40
#: Differences of at least this size are left out like infinite ones: the square of anything smaller is finite.
TOO_LARGE = 1e100
#: Confidence of every interval, and the level that a test must reach.
CONFIDENCE = 0.95
ALPHA = 0.05


@dataclass(frozen=True)
class GainTest:
    """The gain of one baseline over the reference, on one collection, with what can be said about its certainty.

    All differences are in min-max units (1 is the whole range of a dataset); positive means that the baseline is
    better. None means that the figure cannot be had from these samples, never that it is zero: which, is said below.
    """

    n: int
    """Common samples with a finite difference; all figures rest on these."""
    n_not_finite: int
    """Common samples left out because their difference is NaN, infinite or beyond 1e100."""
    wins: int
    """Differences above 1e-9."""
    ties: int
    """Differences of at most 1e-9 in size."""
    losses: int
    """Differences below -1e-9."""
    n_failed_baseline: int
    """Samples whose generation or judgement failed on the baseline's side; they are part of `n` and `delta`."""
    n_failed_reference: int
    """The same on the reference's side."""
    delta: float | None
    """The mean difference over all `n`; None where n is 0."""
    n_valid: int
    """Samples that failed on neither side."""
    delta_valid: float | None
    """The mean difference over `n_valid`; None where that is 0."""
    n_strata: int
    """Dataset groups that occur, G."""
    se_stratified: float | None
    """Standard error of delta for other samples of these datasets: (1/N)·√(Σ_g n_g·s²_g), ddof 1.

    None where a dataset group has a single sample (its spread is unknown, and leaving it out would claim too much),
    which includes N = G; and where no dataset group has any spread (a standard error of 0 would claim certainty).
    """
    df: int
    """Degrees of freedom of the stratified interval, N - G."""
    ci_low: float | None
    """Lower end of the 95 % interval delta ± t(df)·se_stratified; None with se_stratified."""
    ci_high: float | None
    """Upper end of it."""
    p_stratified: float | None
    """Two-sided p of delta = 0 by t(df); not adjusted (see `holm`); None with se_stratified."""
    n_clusters: int
    """Clusters that occur, C."""
    se_clustered: float | None
    """Standard error of delta for other datasets: (1/N)·√(C/(C-1)·Σ_c(Σ_{i∈c}(d_i - delta))²).

    None where C < 2, and where all clusters have the same mean (as above: no spread is no certainty).
    """
    ci_clustered_low: float | None
    """Lower end of delta ± t(C-1)·se_clustered; None with it. Covers too seldom where clusters are unequal."""
    ci_clustered_high: float | None
    """Upper end of it."""
    se_clustered_cr2: float | None
    """The same standard error, bias-reduced (CR2): (1/N)·√(Σ_c(Σ_{i∈c}(d_i - delta))²/(1 - n_c/N)).

    Equal to se_clustered for clusters of one size. Bell & McCaffrey (2002); Pustejovsky & Tipton (2018). None as there.
    """
    df_clustered_cr2: float | None
    """Satterthwaite degrees of freedom of se_clustered_cr2: C-1 for clusters of one size, fewer for unequal ones."""
    ci_clustered_cr2_low: float | None
    """Lower end of delta ± t(df_clustered_cr2)·se_clustered_cr2: the clustered interval that measures best."""
    ci_clustered_cr2_high: float | None
    """Upper end of it."""
    p_clustered: float | None
    """Exact two-sided p by sign flips of the cluster sums: the share of the 2^C sign patterns, identity included, with
    |Σ ε_c S_c| ≥ |Σ S_c| - 1e-12. None where n is 0 or C > 40. Not adjusted."""
    p_min: float | None
    """The smallest value that p_clustered could take with C clusters, 2^(1-C); None where p_clustered is."""


def gain_test(
    differences: ArrayLike,
    dataset_groups: Sequence[str] | NDArray[np.str_],
    clusters: Sequence[str] | NDArray[np.str_],
    failed_baseline: ArrayLike,
    failed_reference: ArrayLike,
) -> GainTest:
    """Test the gain of one baseline from its paired differences.

    Args:
        differences: min-max score of the baseline minus that of the reference, one for each common sample, shape (n,).
            What is not finite, or is beyond 1e100, is left out and counted.
        dataset_groups: the sample's dataset group (all LoCoMo conversations are one), shape (n,).
        clusters: the sample's cluster, which is its dataset (each LoCoMo conversation its own), shape (n,).
        failed_baseline, failed_reference: whether the response or its judgement failed, booleans of shape (n,); a
            caller that does not know passes False.

    The result does not depend on the order of the samples, to the last bit. Raises ValueError where the lengths differ.
    """
    d = np.asarray(differences, dtype=np.float64)
    failed_b, failed_r = np.asarray(failed_baseline, dtype=bool), np.asarray(failed_reference, dtype=bool)
    if d.ndim != 1 or any(len(other) != len(d) for other in (dataset_groups, clusters, failed_b, failed_r)):
        raise ValueError("differences, dataset_groups, clusters and both failed flags must have one entry a sample")
    finite = np.abs(d) < TOO_LARGE
    n_strata, group = _codes(dataset_groups, finite)
    n_clusters, cluster = _codes(clusters, finite)
    n_not_finite = int(len(d) - finite.sum())
    d, failed_b, failed_r = d[finite], failed_b[finite], failed_r[finite]
    # Sums are taken in one order, whatever the order of the input.
    order = np.lexsort((failed_r, failed_b, d, cluster, group))
    d, failed_b, failed_r, group, cluster = d[order], failed_b[order], failed_r[order], group[order], cluster[order]
    n = len(d)
    valid = ~(failed_b | failed_r)

    delta = float(d.mean()) if n else None
    se = _se_stratified(d, group, n_strata)
    df = n - n_strata
    low, high = _interval(delta, se, df)

    cluster_sums = np.bincount(cluster, weights=d, minlength=n_clusters)
    cluster_sizes = np.bincount(cluster, minlength=n_clusters)
    se_cr1, se_cr2, df_cr2 = _se_clustered(d - delta, cluster, cluster_sizes) if delta is not None else (None,) * 3
    cr1_low, cr1_high = _interval(delta, se_cr1, n_clusters - 1)
    cr2_low, cr2_high = _interval(delta, se_cr2, df_cr2)
    p_clustered = sign_flip_p(cluster_sums)

    return GainTest(
        n=n,
        n_not_finite=n_not_finite,
        wins=int((d > TIE).sum()),
        ties=int((np.abs(d) <= TIE).sum()),
        losses=int((d < -TIE).sum()),
        n_failed_baseline=int(failed_b.sum()),
        n_failed_reference=int(failed_r.sum()),
        delta=delta,
        n_valid=int(valid.sum()),
        delta_valid=float(d[valid].mean()) if valid.any() else None,
        n_strata=n_strata,
        se_stratified=se,
        df=df,
        ci_low=low,
        ci_high=high,
        p_stratified=_p_value(delta, se, df),
        n_clusters=n_clusters,
        se_clustered=se_cr1,
        ci_clustered_low=cr1_low,
        ci_clustered_high=cr1_high,
        se_clustered_cr2=se_cr2,
        df_clustered_cr2=df_cr2,
        ci_clustered_cr2_low=cr2_low,
        ci_clustered_cr2_high=cr2_high,
        p_clustered=p_clustered,
        p_min=None if p_clustered is None else 2.0 ** (1 - n_clusters),
    )


def sign_flip_p(cluster_sums: ArrayLike) -> float | None:
    """The exact two-sided p that the total of `cluster_sums` (shape (C,), any unit) is 0, by flipping their signs.

    The share of all 2^C patterns ε of ±1, identity included, with |Σ ε_c S_c| ≥ |Σ S_c| - 1e-12. It holds where, with
    no gain, a cluster's sum is as likely to be positive as negative; sizes may differ. None where C is 0 or above 40.

    The patterns are not listed one by one: every total is a sum of the first half of the clusters plus one of the
    second, so 2·2^(C/2) sums are made and the pairs that reach the threshold are counted by bisection. The count is
    exact. Raises ValueError where a sum is not finite.
    """
    sums = np.asarray(cluster_sums, dtype=np.float64)
    if not np.isfinite(sums).all():
        raise ValueError("a cluster sum is not finite")
    if not 0 < len(sums) <= MAX_SIGN_FLIP_CLUSTERS:
        return None
    threshold = abs(math.fsum(sums)) - SIGN_FLIP_SLACK
    if threshold <= 0:
        return 1.0
    half = len(sums) // 2
    left, right = _signed_sums(sums[:half]), np.sort(_signed_sums(sums[half:]))
    # For each pattern there is its mirror image, so those at or above +threshold are half of all that count.
    reached = int((len(right) - np.searchsorted(right, threshold - left, side="left")).sum())
    return float(2 * reached / 2 ** len(sums))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values, in the order given: p_(k) becomes max over j ≤ k of min(1, (m - j + 1)·p_(j)).

    The family is what is passed: the baselines of one backbone and collection. None stays None and is not counted in
    m, because nothing was tested there. Source: Holm, "A simple sequentially rejective multiple test procedure" (1979).
    Raises ValueError for a p outside 0..1.
    """
    tested = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    if any(not 0 <= p <= 1 for p, _ in tested):
        raise ValueError("a p value lies outside 0..1")
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, i) in enumerate(tested):
        running = max(running, min(1.0, (len(tested) - rank) * p))
        adjusted[i] = running
    return adjusted


def can_be_tested(p_mins: Sequence[float | None]) -> list[bool]:
    """Whether each baseline's Holm-adjusted p_clustered could reach 0.05 at all, for one backbone and collection.

    `p_mins` are the family's `GainTest.p_min`; None, where there is no p, gives False. Adjusted p values never fall
    when a p rises, so Holm on the smallest possible ones is the best case: for m baselines with the same datasets this
    is p_min·m ≤ 0.05. False reads "cannot tell", not "no difference".
    """
    return [p is not None and p <= ALPHA for p in holm(p_mins)]


def _codes(labels: Sequence[str] | NDArray[np.str_], kept: NDArray[np.bool_]) -> tuple[int, NDArray[np.intp]]:
    """How many different labels are kept, and each kept sample's label as a number in their sorted order."""
    names = [label for label, keep in zip(labels, kept, strict=True) if keep]
    number = {name: i for i, name in enumerate(sorted(set(names)))}
    return len(number), np.fromiter((number[name] for name in names), dtype=np.intp, count=len(names))


def _se_stratified(d: NDArray[np.float64], group: NDArray[np.intp], n_strata: int) -> float | None:
    sizes = np.bincount(group, minlength=n_strata)
    if len(d) == 0 or sizes.min() < 2:
        return None
    means = np.bincount(group, weights=d, minlength=n_strata) / sizes
    variances = np.bincount(group, weights=(d - means[group]) ** 2, minlength=n_strata) / (sizes - 1)
    return _spread(math.sqrt(float((sizes * variances).sum())) / len(d))


def _se_clustered(
    residuals: NDArray[np.float64], cluster: NDArray[np.intp], sizes: NDArray[np.intp]
) -> tuple[float | None, float | None, float | None]:
    """se_clustered, se_clustered_cr2 and the latter's degrees of freedom.

    For a mean, the hat matrix within a cluster is 1·1'/N, of which 1 is an eigenvector, so CR2's matrix square root
    comes down to the factor 1/√(1 - n_c/N). The degrees of freedom are those of Bell & McCaffrey with independent,
    equally spread samples as the working model: (tr V)²/(tr V²) for V_cc = n_c, V_ce = -n_c·n_e·a_c·a_e/N, where
    a_c = 1/√(1 - n_c/N).
    """
    n_clusters, n = len(sizes), len(residuals)
    if n_clusters < 2:
        return None, None, None
    squares = np.bincount(cluster, weights=residuals, minlength=n_clusters) ** 2
    cr1 = _spread(math.sqrt(n_clusters / (n_clusters - 1) * float(squares.sum())) / n)
    if cr1 is None:
        return None, None, None
    leverage = 1 / (1 - sizes / n)
    cr2 = math.sqrt(float((squares * leverage).sum())) / n
    pairs = np.outer(sizes**2 * leverage, sizes**2 * leverage) / n**2
    np.fill_diagonal(pairs, sizes**2)
    return cr1, cr2, float(n**2 / pairs.sum())


def _spread(standard_error: float) -> float | None:
    return standard_error if standard_error > TIE else None


def _interval(
    delta: float | None, standard_error: float | None, df: float | None
) -> tuple[float, float] | tuple[None, None]:
    if delta is None or standard_error is None or df is None:
        return None, None
    from scipy.special import stdtrit

    half = float(stdtrit(df, (1 + CONFIDENCE) / 2)) * standard_error
    return delta - half, delta + half


def _p_value(delta: float | None, standard_error: float | None, df: float) -> float | None:
    if delta is None or standard_error is None:
        return None
    from scipy.special import stdtr

    return min(1.0, 2 * float(stdtr(df, -abs(delta) / standard_error)))


def _signed_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """All 2^len(sums) totals of the sums with either sign."""
    totals = np.zeros(1)
    for value in sums:
        totals = np.concatenate((totals - value, totals + value))
    return totals
