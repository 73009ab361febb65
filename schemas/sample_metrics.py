"""sample_metrics: every scalar number, boolean and null that evaluation published, one row each."""

from schemas.model import DATASET, GROUP_ID, PROTOCOL, TEST_IDX, Column, Reference, Table

VALUE_KINDS = ("bool", "int", "float", "null")

TABLE = Table(
    name="sample_metrics",
    grain="sample, protocol, metric",
    meaning="Every scalar of a sample's metrics: null, false and absent stay apart (null is a row, absent is none).",
    key=("group_id", "protocol", "dataset", "test_idx", "metric"),
    references=(
        Reference(
            ("group_id", "protocol", "dataset", "test_idx"),
            "evaluations",
            ("group_id", "protocol", "dataset", "test_idx"),
        ),
    ),
    columns=(
        GROUP_ID,
        PROTOCOL,
        DATASET,
        TEST_IDX,
        Column("metric", "text", "The metric's name as published."),
        Column("position", "integer", "The key's place in the record's metrics, from 0.", minimum=0),
        Column(
            "value",
            "number",
            "The value; true is 1 and false is 0; NULL where null is published. May be NaN or infinite.",
            nullable=True,
        ),
        Column(
            "value_text", "text", "The exact value where DOUBLE cannot hold it (integers past 2^53).", nullable=True
        ),
        Column("kind", "text", "The JSON type as Python reads it.", values=VALUE_KINDS),
    ),
)
