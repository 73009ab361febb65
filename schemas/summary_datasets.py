"""summary_datasets: the dataset-level numbers that the publisher printed."""

from schemas.evaluations import SOURCE_FILE
from schemas.model import DATASET_GROUP, GROUP_ID, PROTOCOL, Column, Table


def _number(name: str, meaning: str) -> Column:
    return Column(name, "number", meaning, nullable=True)


TABLE = Table(
    name="summary_datasets",
    grain="group, protocol, dataset_group",
    meaning="Means per dataset as published in summary.json; normalised ones compare inside one split and collection.",
    key=("group_id", "protocol", "dataset_group"),
    columns=(
        GROUP_ID,
        PROTOCOL,
        DATASET_GROUP,
        Column("position", "integer", "The dataset group's place in the summary, from 0.", minimum=0),
        _number("average", "Mean score."),
        _number("minmax_sum", "Sum over samples of (s - min) / (max - min)."),
        _number("minmax_count", "Number of samples in minmax_sum."),
        _number("minmax_average", "Mean over samples of (s - min) / (max - min)."),
        _number("z_sum", "Sum over samples of (s - mu) / sigma."),
        _number("z_count", "Number of samples in z_sum."),
        _number("z_average", "Mean over samples of (s - mu) / sigma."),
        SOURCE_FILE,
    ),
)
