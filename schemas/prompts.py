"""prompts: what each system was asked, retrieved memories included; most bytes of the archive."""

from schemas.model import DATASET, GROUP_ID, RESIDUE, TEST_IDX, Column, Table

TABLE = Table(
    name="prompts",
    grain="sample",
    meaning="The messages sent to the backbone for each sample. Parquet only, unless built with --embed-prompts.",
    key=("group_id", "dataset", "test_idx"),
    in_database=False,
    columns=(
        GROUP_ID,
        DATASET,
        TEST_IDX,
        Column(
            "messages",
            "messages",
            "The messages in order, each with role and content; NULL where not a list.",
            nullable=True,
            long_text=True,
        ),
        RESIDUE,
    ),
)
