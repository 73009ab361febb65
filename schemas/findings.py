"""findings: everything that is wrong or notable, one row each."""

from schemas.model import Column, Table

STAGES = ("source", "input", "quality")
SEVERITIES = ("error", "warning", "info")

TABLE = Table(
    name="findings",
    grain="finding",
    meaning="What is wrong or notable: bad input, failed expectations, numbers that do not reconcile, invalid groups.",
    grouped=False,
    key=(),
    columns=(
        Column(
            "stage",
            "text",
            "source: the archive as listed; input: a group's files as read; quality: the loaded tables as checked.",
            values=STAGES,
        ),
        Column("check", "text", 'The check that found it. A reserved word in SQL: write it "check", in double quotes.'),
        Column(
            "severity",
            "text",
            "error: data is missing or wrong; warning: read with care; info: good to know.",
            values=SEVERITIES,
        ),
        Column(
            "group_id", "text", "The group concerned; NULL where it is about the archive or a table.", nullable=True
        ),
        Column("file", "text", "The file concerned, relative to the archive.", nullable=True),
        Column("record", "integer", "The record's place in the file, from 0.", nullable=True),
        Column("dataset", "text", "The sample's dataset.", nullable=True),
        Column("test_idx", "integer", "The sample's index.", nullable=True),
        Column("message", "text", "What is wrong, with the evidence."),
        Column(
            "n_rows",
            "integer",
            "How many rows of the checked table it stands for; without a group_id those of all groups, also of groups "
            "with a finding of their own. NULL where it does not stand for rows.",
            nullable=True,
            minimum=1,
        ),
    ),
)
