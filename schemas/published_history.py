"""published_history: every number that was ever published, with the refreshes between which it held."""

from schemas.model import DATASET_GROUP, GROUP_ID, PROTOCOL, Column, Table, key_columns

TABLE = Table(
    name="published_history",
    grain="group, protocol, dataset_group, metric, valid_from",
    meaning="Every published number of summary.json with the refreshes between which it held. A number that moves ends "
    "one row and starts the next; one that is gone ends its row. Groups that are no longer published stay in here.",
    grouped=False,
    historical=True,
    key=("group_id", "protocol", "dataset_group", "metric", "valid_from"),
    columns=(
        *key_columns(),
        GROUP_ID,
        PROTOCOL,
        Column(
            "dataset_group",
            "text",
            f"{DATASET_GROUP.meaning} NULL where the number is one of the whole group.",
            nullable=True,
        ),
        Column(
            "metric",
            "text",
            "The key inside `summary` (average, weighted_average, z_score, …), or a column of summary_datasets.",
        ),
        Column(
            "valid_from",
            "integer",
            "The refresh (refreshes.refresh_id) from which on it holds.",
            minimum=1,
            provenance=True,
        ),
        Column(
            "valid_to",
            "integer",
            "The refresh from which on it no longer holds; NULL where it still does.",
            nullable=True,
            minimum=2,
            provenance=True,
        ),
        Column("revision", "text", "The source's revision at valid_from.", provenance=True),
        Column(
            "end_revision",
            "text",
            "The source's revision at valid_to; NULL where it still holds.",
            nullable=True,
            provenance=True,
        ),
        Column("value", "number", "The published number; NULL where it is not a number.", nullable=True),
        Column(
            "value_text",
            "text",
            "A text, the exact value where DOUBLE cannot hold it, or JSON text of a boolean, list or object.",
            nullable=True,
        ),
    ),
)
