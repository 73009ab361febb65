"""sample_annotations: the texts, lists and objects among a sample's metrics (reasons, checklists, gold answers)."""

from schemas.model import DATASET, GROUP_ID, PROTOCOL, TEST_IDX, Column, Reference, Table

TABLE = Table(
    name="sample_annotations",
    grain="sample, protocol, name",
    meaning="What evaluation published that is not a scalar number: gold answers, judges' reasons, checklists.",
    key=("group_id", "protocol", "dataset", "test_idx", "name"),
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
        Column("name", "text", "The key inside metrics."),
        Column("position", "integer", "The key's place in the record's metrics, from 0.", minimum=0),
        Column("value", "text", "The text itself, or JSON text of a list or an object.", long_text=True),
        Column("kind", "text", "text, list or object.", values=("text", "list", "object")),
    ),
)
