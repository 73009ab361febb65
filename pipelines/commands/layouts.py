"""How people are shown the standard result tables: which columns, in what order, and what is set in bold.

What is measured is settled in sql/; here it is only laid out. Machines get the views as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


class Shown(NamedTuple):
    """One column: its header, the SQL that gives it, which end of it is the best, whether it holds reasons, which
    stand below the table, and is left out where it is empty throughout, and the SQL of whether a row's value may be the
    best. With `alone`, a value that is the only one that may is the best."""

    header: str
    sql: str
    best: Literal["highest", "lowest"] | None = None
    reasons: bool = False
    contends: str = "true"
    alone: bool = False


class Explained(NamedTuple):
    """A line of a legend, for where the column is shown, and the word in it."""

    header: str
    text: str
    word: str | None = None


class Figure(NamedTuple):
    """The column without which a table says nothing, what is said in its place then, and why it is so where the row
    says nothing itself."""

    header: str
    nothing: str
    why: str


class Unknown(NamedTuple):
    """Columns that may be empty throughout, and the SQL of the reason why they are in a row."""

    headers: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Layout:
    """One table. `sections` are headings above blocks of rows, within which the best is sought; `order` is that of the
    rows in a block. The columns `leading` tell rows apart. `legend` says what a reader must know, a line for each
    thing. `groups` is the SQL of a list of the groups that a row's numbers are made of, `counted` which rows have
    any, and `marked` are the columns that get their marks. `bold_means` is what the best is called. `unknown` has the
    reasons of columns that no reason stands beside. `n_ranked` is the SQL of how many systems a row is ranked among."""

    caption: str
    sections: tuple[str, ...]
    columns: tuple[Shown, ...]
    order: str
    leading: tuple[str, ...]
    legend: tuple[Explained, ...] = ()
    figure: Figure | None = None
    groups: str | None = None
    counted: str = "true"
    marked: tuple[str, ...] = ()
    decimals: int | None = None
    bold_means: str = "the best of its block"
    unknown: tuple[Unknown, ...] = ()
    n_ranked: str | None = None


def _interval(low: str, high: str, decimals: int) -> str:
    return f"printf('[%.{decimals}f, %.{decimals}f]', {low}, {high})"


def _known(text: str, figure: str, of: str) -> str:
    """The text, or that it cannot be told where there is `of` and no `figure`."""
    return f"CASE WHEN {of} IS NOT NULL AND {figure} IS NULL THEN 'cannot tell' ELSE {text} END"


_VERDICT = "CASE {0} WHEN 'not significant' THEN 'n.s.' ELSE {0} END"
_RATING = (
    Shown("rating", "round(rating)::BIGINT", "highest"),
    Shown("95% interval", _known(_interval("rating_low", "rating_high", 0), "rating_low", "rating")),
    Shown("ranks left open", _known("printf('%d-%d', rank_low, rank_high)", "rank_low", "rating")),
)

_NOT_RATED = Unknown(
    ("rating", "95% interval", "ranks left open"),
    "coalesce(regexp_replace(rating_pool, '^not rated: ', ''), 'there is nothing to compare')",
)
_CANNOT_TELL = Explained("95% interval", "cannot tell: too few samples for an interval", "cannot tell")
_BRADLEY_TERRY = (
    "Bradley-Terry, from how often a system beats others on the same sample; 1000 is the mean of the systems rated{}, "
    "and 100 points are a win rate of 64 %"
)
_LEFT_OPEN = Explained("ranks left open", "ranks left open: those by rating that its 95% interval allows")
_NO_SCORES = "no sample has a published score on both sides"

LAYOUTS = {
    "memory_gain": Layout(
        "What memory gains over the same backbone without it",
        ("experiment", "protocol", "backbone", "split", "collection"),
        (
            Shown("baseline", "baseline"),
            # Bold is read as a win: what may be chance, or is a loss, is none, also where nothing else is higher.
            Shown(
                "gain", "delta", "highest", contends=f"{_VERDICT.format('on_these_datasets')} = 'better'", alone=True
            ),
            Shown("95% interval", _known(_interval("ci_low", "ci_high", 4), "ci_low", "delta")),
            Shown("these datasets", _VERDICT.format("on_these_datasets")),
            Shown("other datasets", _VERDICT.format("to_other_datasets")),
            Shown("n", "CASE WHEN delta IS NOT NULL THEN n END"),
            Shown("datasets", "CASE WHEN delta IS NOT NULL THEN n_clusters END"),
            Shown("wins", "CASE WHEN delta IS NOT NULL THEN wins END"),
            Shown("ties", "CASE WHEN delta IS NOT NULL THEN ties END"),
            Shown("losses", "CASE WHEN delta IS NOT NULL THEN losses END"),
            Shown("why not", "excluded", reasons=True),
        ),
        "baseline",
        ("baseline",),
        (
            Explained(
                "gain", "gain: mean difference to wo_memory over n common samples of so many datasets, in min-max units"
            ),
            Explained(
                "these datasets",
                "these datasets: would it hold for other questions of them? n.s.: not significant at 0.05 after Holm; "
                "cannot tell: a dataset has a single sample, or no difference varies",
            ),
            Explained(
                "95% interval",
                "95% interval: of this system alone, not adjusted for there being several; the verdict is (Holm), so "
                "that it may be n.s. where the interval is without 0",
            ),
            Explained(
                "other datasets",
                "other datasets: would it hold for datasets that the benchmark does not have? cannot tell: of so few "
                "no result could be significant, which does not mean no difference",
            ),
        ),
        Figure("gain", "no gain can be computed", _NO_SCORES),
        "[group_id, reference_group_id]",
        "delta IS NOT NULL",
        ("gain",),
        4,  # as in its interval
        "the highest of its block among gains that are better on these datasets",
    ),
    "collection_rankings": Layout(
        "Systems ranked in each collection",
        ("experiment", "protocol", "split", "collection"),
        (
            Shown("rank", "rank"),
            Shown("backbone", "backbone"),
            Shown("baseline", "baseline"),
            Shown("weighted_average", "weighted_average", "highest", contends="rank IS NOT NULL"),
            Shown("z_score", "z_score", "highest"),
            *_RATING,
            Shown("why not ranked", "excluded", reasons=True),
        ),
        "rank NULLS LAST, backbone, baseline",
        ("rank", "backbone", "baseline"),
        (
            Explained("rank", "rank: by weighted_average"),
            Explained("rating", f"rating: {_BRADLEY_TERRY.format('')}"),
            _LEFT_OPEN,
            _CANNOT_TELL,
        ),
        None,
        "[group_id]",
        "coalesce(weighted_average, z_score) IS NOT NULL",
        ("weighted_average", "z_score"),
        unknown=(_NOT_RATED,),
        n_ranked="n_ranked",
    ),
    "leaderboard": Layout(
        "Systems ranked over all collections of a split",
        ("experiment", "protocol", "split"),
        (
            Shown("rank", "rank"),
            Shown("backbone", "backbone"),
            Shown("baseline", "baseline"),
            Shown("mean_weighted_average", "mean_weighted_average", "highest"),
            Shown("mean_z_score", "mean_z_score", "highest"),
            Shown("mean_rank", "mean_rank", "lowest"),
            *_RATING,
            Shown("prompt_chars", "round(mean_prompt_chars)::BIGINT"),
            Shown("response_chars", "round(mean_response_chars)::BIGINT"),
            Shown("missing", "missing_collections", reasons=True),
        ),
        "rank NULLS LAST, backbone, baseline",
        ("rank", "backbone", "baseline"),
        (
            Explained(
                "rank",
                "rank: by the mean of weighted_average over all collections of the split, for systems that have them "
                "all",
            ),
            Explained(
                "mean_rank",
                "mean_weighted_average, mean_z_score, mean_rank: means over the collections of the split, each "
                "weighing the same",
            ),
            Explained(
                "rating", f"rating: mean over the collections of ratings; {_BRADLEY_TERRY.format(' in a collection')}"
            ),
            _LEFT_OPEN,
            _CANNOT_TELL,
        ),
        None,
        "(SELECT list(r.group_id) FROM result_groups AS r WHERE r.experiment = shown.experiment "
        "AND r.split = shown.split AND r.backbone = shown.backbone AND r.baseline = shown.baseline)",
        "coalesce(mean_weighted_average, mean_z_score) IS NOT NULL",
        ("mean_weighted_average", "mean_z_score"),
        unknown=(
            _NOT_RATED,
            Unknown(
                ("prompt_chars", "response_chars"), "'known only where all responses of every collection are published'"
            ),
        ),
        n_ranked="n_ranked",
    ),
    "baseline_comparison": Layout(
        "Memory systems compared sample by sample",
        ("experiment", "protocol", "split", "collection"),
        (
            Shown("baseline", "baseline"),
            Shown("against", "other_baseline"),
            Shown("samples", "n_samples"),
            Shown("wins", "wins"),
            Shown("ties", "ties"),
            Shown("losses", "losses"),
            Shown("win_share", "win_share"),
            Shown("left out", "excluded", reasons=True),
        ),
        "baseline, other_baseline",
        ("baseline", "against"),
        (Explained("wins", "wins: samples on which baseline has the higher score, over all backbones"),),
        Figure("wins", "nothing can be compared", _NO_SCORES),
        "(SELECT list(r.group_id) FROM result_groups AS r WHERE r.experiment = shown.experiment "
        "AND r.split = shown.split AND r.collection = shown.collection "
        "AND r.baseline IN (shown.baseline, shown.other_baseline))",
        "wins IS NOT NULL",
    ),
    "coverage": Layout(
        "What is published and loaded",
        ("experiment", "split", "collection"),
        (
            Shown("backbone", "backbone"),
            Shown("baseline", "baseline"),
            Shown("status", "status"),
            Shown(
                "what there is",
                "CASE WHEN group_id IS NOT NULL THEN concat_ws(', ', CASE WHEN has_predictions THEN 'predictions' END, "
                "CASE WHEN has_evaluations THEN 'evaluations' END, CASE WHEN has_summary THEN 'summary' END) END",
            ),
            Shown("predictions", "n_predictions"),
            Shown("evaluations", "n_evaluations"),
            Shown("scores", "n_scores"),
            Shown("protocols", "protocols"),
            Shown("validity", "CASE WHEN group_id IS NOT NULL THEN coalesce(validity, 'unknown') END"),
            Shown("why", "validity_reasons", reasons=True),
        ),
        "backbone, baseline",
        ("backbone", "baseline"),
        (
            Explained(
                "status",
                "complete: every file that the archive names for the group is loaded, which may be the summary alone: "
                "see what there is",
                "complete",
            ),
            Explained("status", "not_published: the archive does not name the group", "not_published"),
            Explained("validity", "validity unknown: there are no responses to judge by", "unknown"),
        ),
    ),
    "data_quality": Layout(
        "What the checks found",
        (),
        (
            Shown("check", '"check"'),
            Shown("severity", "severity"),
            Shown("groups", "n_groups"),
            Shown("rows", "n_rows"),
            Shown("findings", "n_findings"),
            Shown("example", "example"),
        ),
        "CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, \"check\"",
        ("check",),
        (
            Explained(
                "rows",
                "rows: how many rows of tables failed; findings: rows of the table findings, each for one or many such",
            ),
        ),
    ),
}


def layout(name: str) -> Layout | None:
    """How a view is laid out, if it is one of those that are; a view with invalid groups in it as the one without."""
    return LAYOUTS.get(name.removesuffix("_all"))
