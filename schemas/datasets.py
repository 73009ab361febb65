"""datasets: reference facts on each dataset that is known or observed."""

from schemas.model import DATASET, DATASET_GROUP, Column, Table

TABLE = Table(
    name="datasets",
    grain="dataset",
    meaning="Reference facts on each dataset. A dataset that the project does not know yet has a row with NULLs.",
    grouped=False,
    key=("dataset",),
    columns=(
        DATASET,
        DATASET_GROUP,
        Column("domain", "text", "The collection that holds it in the split domain.", nullable=True),
        Column("task", "text", "The collection that holds it in the split task.", nullable=True),
        Column("language", "text", "en or zh.", nullable=True),
        Column(
            "main_metric",
            "text",
            "The metric that its score is; NULL for datasets with a merged judge score.",
            nullable=True,
        ),
        Column("score_min", "number", "Lower end of the score's scale.", nullable=True),
        Column("score_max", "number", "Upper end of the score's scale.", nullable=True),
        Column("description", "text", "What the dataset asks.", nullable=True),
    ),
)
