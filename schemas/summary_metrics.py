"""summary_metrics: the group-level numbers that the publisher printed."""

from schemas.evaluations import SOURCE_FILE
from schemas.model import GROUP_ID, PROTOCOL, Column, Table

TABLE = Table(
    name="summary_metrics",
    grain="group, protocol, metric",
    meaning="The object `summary` of summary.json: average, weighted_average, z_score, and whatever else is published.",
    key=("group_id", "protocol", "metric"),
    columns=(
        GROUP_ID,
        PROTOCOL,
        Column("metric", "text", "The key inside summary."),
        Column("position", "integer", "The key's place in summary, from 0.", minimum=0),
        Column("value", "number", "The published number; NULL where it is not a number.", nullable=True),
        Column(
            "value_text",
            "text",
            "A text, the exact value where DOUBLE cannot hold it, or JSON text of a boolean, list or object.",
            nullable=True,
        ),
        Column(
            "kind",
            "text",
            "The JSON type as Python reads it.",
            values=("bool", "int", "float", "null", "text", "list", "object"),
        ),
        SOURCE_FILE,
    ),
)
