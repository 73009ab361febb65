"""ratings: how often each system beats the others on the same sample, on one scale, with bounds for its rank."""

from schemas.model import PROTOCOL, Column, Table


def _number(name: str, meaning: str) -> Column:
    return Column(name, "number", meaning, nullable=True)


def _rank(name: str, meaning: str) -> Column:
    return Column(name, "integer", meaning, nullable=True, minimum=1)


TABLE = Table(
    name="ratings",
    grain="experiment, split, collection, backbone, baseline, protocol",
    meaning="Bradley-Terry ratings of the valid systems of a collection from sample-by-sample comparisons of published "
    "scores, and their means over a split (collection NULL). 100 points are a win rate of 64 %.",
    grouped=False,
    key=("experiment", "split", "collection", "backbone", "baseline", "protocol"),
    columns=(
        Column("experiment", "text", "How the systems were run."),
        Column("split", "text", "domain or task."),
        Column(
            "collection",
            "text",
            "The collection; NULL: overall in the split, the mean over its collections, draw by draw, for systems that "
            "are rated in all of them.",
            nullable=True,
        ),
        Column("backbone", "text", "The language model that answers."),
        Column("baseline", "text", "The memory system."),
        PROTOCOL,
        _number("rating", "The rating, in points: the mean of a collection's pool is 1000. NULL where not rated."),
        _number(
            "rating_low", "2.5 percentile of the draws; NULL where not rated, and where `pool` says there is none."
        ),
        _number("rating_high", "97.5 percentile of the draws; NULL with rating_low."),
        _rank("rank", "1 for the highest rating of the pool; equal ratings share a rank."),
        _rank(
            "rank_low",
            "The best rank it may have: 1 + the systems whose whole interval lies above; NULL with rating_low.",
        ),
        _rank(
            "rank_high", "The worst rank it may have: the pool's size less those wholly below; NULL with rating_low."
        ),
        Column("n_samples", "integer", "Samples on which it was compared with another system.", minimum=0),
        Column("n_comparisons", "integer", "Comparisons it took part in, one a sample and opponent.", minimum=0),
        Column("n_pool", "integer", "Number of systems in the pool.", minimum=0),
        Column(
            "pool", "text", "What it was rated against, and why it has no interval, if so; where not rated, why not."
        ),
        Column("tie_rule", "text", "What counts as a tie, and which ties were added."),
        Column("n_draws", "integer", "Bootstrap draws behind the interval.", minimum=1),
        Column(
            "seed",
            "integer",
            "What the draws were made from; NULL overall, where each collection has its own.",
            nullable=True,
        ),
        Column(
            "inputs_digest",
            "text",
            "SHA-256 over the names, files and validity of the groups of the split; while it stays the same, so do the "
            "figures.",
        ),
    ),
)
