"""evaluations: that a sample was scored, one row for each sample and protocol; the numbers are in sample_metrics."""

from schemas.model import DATASET, GROUP_ID, PROTOCOL, RESIDUE, TEST_IDX, Column, Table

SOURCE_FILE = Column("source_file", "text", "The file of the group that the record came from.")

TABLE = Table(
    name="evaluations",
    grain="sample, protocol",
    meaning="Each scored sample (a record of evaluate_details.json).",
    key=("group_id", "protocol", "dataset", "test_idx"),
    columns=(
        GROUP_ID,
        PROTOCOL,
        DATASET,
        TEST_IDX,
        Column("position", "integer", "The record's place in its file, from 0.", minimum=0),
        Column("n_metrics", "integer", "Number of keys in the record's metrics.", minimum=0),
        SOURCE_FILE,
        RESIDUE,
    ),
)
