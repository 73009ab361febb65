"""baselines: reference facts on each memory system that is known or observed."""

from schemas.model import Column, Table

TABLE = Table(
    name="baselines",
    grain="baseline",
    meaning="Reference facts on each baseline. A baseline that the project does not know yet has a row with NULLs.",
    grouped=False,
    key=("baseline",),
    columns=(
        Column("baseline", "text", "The baseline as published."),
        Column("paper_name", "text", "Its name in the paper's tables.", nullable=True),
        Column("type", "text", "What kind of memory it is.", nullable=True),
        Column("description", "text", "What it does.", nullable=True),
    ),
)
