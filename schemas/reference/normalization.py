"""The publisher's fixed constants for min-max and z normalisation, one row a split, collection and dataset group.

They are figures of the publisher, not computed here; the same dataset has other constants in its domain than in its
task. `normalization.csv` beside this module holds them with every digit.
"""

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class NormalizationRow:
    """Lowest, highest, mean and standard deviation (ddof 0) of a dataset group's scores, in the score's own unit."""

    split: str
    collection: str
    dataset_group: str
    minimum: float
    maximum: float
    mu: float
    sigma: float


@cache
def normalization() -> tuple[NormalizationRow, ...]:
    """All rows, in the order of the file; read once."""
    # Imported here, because what only needs the names of datasets should not pay for them.
    import csv
    from pathlib import Path

    with Path(__file__).with_name("normalization.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            NormalizationRow(
                row["split"], row["collection"], row["dataset_group"],
                float(row["minimum"]), float(row["maximum"]), float(row["mu"]), float(row["sigma"]),
            )
            for row in csv.DictReader(file)
        )  # fmt: skip


@cache
def _by_key() -> dict[tuple[str, str, str], NormalizationRow]:
    return {(row.split, row.collection, row.dataset_group): row for row in normalization()}


def normalization_of(split: str, collection: str, dataset_group: str) -> NormalizationRow | None:
    """The constants of one dataset group in one collection, None where the publisher gives none."""
    return _by_key().get((split, collection, dataset_group))
