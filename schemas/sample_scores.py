"""sample_scores: the one score of a sample that the published tables are made of."""

from schemas.model import DATASET_GROUP, GROUP_ID, PROTOCOL, Column, Table

TABLE = Table(
    name="sample_scores",
    grain="sample, protocol",
    meaning="The score that the published tables use. dataset and test_idx are NULL where summary.details and the "
    "evaluations disagree in number, so that no score is joined to the wrong sample.",
    key=("group_id", "protocol", "dataset_group", "position"),
    columns=(
        GROUP_ID,
        PROTOCOL,
        DATASET_GROUP,
        Column("dataset", "text", "The dataset as published; NULL where the sample is unknown.", nullable=True),
        Column("test_idx", "integer", "The sample's index; NULL where the sample is unknown.", nullable=True),
        Column(
            "position",
            "integer",
            "The score's place in its dataset group, ordered by (dataset, test_idx), from 0.",
            minimum=0,
        ),
        Column(
            "score",
            "number",
            "The score as published; true is 1, false is 0, an integer past every float is infinite; NULL where null "
            "or text stands, or a judge call failed.",
            nullable=True,
        ),
        Column(
            "score_counted",
            "number",
            "What the publisher's means count: the score, with null and text as 0. NULL where nothing is published.",
            nullable=True,
        ),
        Column(
            "kind",
            "text",
            "The published value's JSON type; absent where the main metric is not in the record.",
            values=("bool", "int", "float", "null", "text", "absent"),
        ),
        Column(
            "origin",
            "text",
            "published: from summary.details; derived: no details, so the dataset's main metric.",
            values=("published", "derived"),
        ),
        Column(
            "failed",
            "boolean",
            "The generation or the judge call failed; NULL where the sample or its prediction is unknown.",
            nullable=True,
        ),
        Column(
            "out_of_scale",
            "boolean",
            "The score lies outside the dataset's published range; NULL where score or range is unknown.",
            nullable=True,
        ),
    ),
)
