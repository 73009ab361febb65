"""predictions: what each system answered, one row for each sample; the prompt itself is in prompts."""

from schemas.model import DATASET, GROUP_ID, RESIDUE, TEST_IDX, Column, Table

TABLE = Table(
    name="predictions",
    grain="sample",
    meaning="The response of the system to each sample (predict.json without its messages).",
    key=("group_id", "dataset", "test_idx"),
    columns=(
        GROUP_ID,
        DATASET,
        TEST_IDX,
        Column("position", "integer", "The record's place in predict.json, from 0.", minimum=0),
        Column(
            "response", "text", "The answer, as published; NULL where null is published.", nullable=True, long_text=True
        ),
        Column(
            "response_chars",
            "integer",
            "Length of the response in characters (Unicode code points).",
            nullable=True,
            minimum=0,
        ),
        Column("prompt_chars", "integer", "Total length of the messages' contents in characters.", minimum=0),
        Column("n_messages", "integer", "Number of messages in the prompt.", minimum=0),
        Column("failed_generation", "boolean", "True where the response is the runner's error text, empty or null."),
        RESIDUE,
    ),
)
