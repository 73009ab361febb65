"""normalization: the publisher's fixed constants for min-max and z."""

from schemas.model import DATASET_GROUP, Column, Table

TABLE = Table(
    name="normalization",
    grain="split, collection, dataset_group",
    meaning="The publisher's constants. They differ between the domain and the task of one dataset and belong to the "
    "protocol metrics only; the constants of other protocols are not published.",
    grouped=False,
    key=("split", "collection", "dataset_group"),
    columns=(
        Column("split", "text", "domain or task."),
        Column("collection", "text", "The collection inside the split."),
        DATASET_GROUP,
        Column("min", "number", "Smallest score over the published systems."),
        Column("max", "number", "Largest score over the published systems."),
        Column("mu", "number", "Mean score over the published systems."),
        Column("sigma", "number", "Population standard deviation of the score over the published systems.", minimum=0),
    ),
)
