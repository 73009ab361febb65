"""What an export holds: which tables and views, under which names, and how they are described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pipelines.load.views import ViewFile
from schemas import TABLES
from schemas.model import DUCKDB_TYPES, Table

Format = Literal["parquet", "csv", "duckdb"]
FORMATS: tuple[Format, ...] = ("parquet", "csv", "duckdb")
PROMPTS = "prompts"

#: Views that are no product of their own: one has all responses in it a second time, the others serve other views.
LEFT_OUT_VIEWS = ("sample_results", "normalized_scores", "group_protocols", "published_means")
#: The view that a visitor is shown first.
FIRST = "results"

DATA = "data"
CARD = "README.md"
SCHEMA = "schema.json"
MANIFEST = "snapshot.json"
CHECKSUMS = "SHA256SUMS"


@dataclass(frozen=True)
class ExportOptions:
    """`prompts` adds the messages, most bytes of the archive; `partitioned` keeps the Parquet of grouped tables as the
    warehouse has it, a file for each group with the keys in its path, instead of a few files with the keys inside."""

    format: Format = "parquet"
    prompts: bool = False
    partitioned: bool = False


def exported_tables(options: ExportOptions) -> list[Table]:
    """The tables of an export, in their declared order."""
    return [table for table in TABLES.values() if options.prompts or table.name != PROMPTS]


def exported_views(views: list[ViewFile]) -> list[ViewFile]:
    """The views that are exported as tables: the standard result tables."""
    return [view for view in views if view.name not in LEFT_OUT_VIEWS and not view.name.startswith("comparable_groups")]


def schema_description(tables: list[Table], views: list[ViewFile], types: Mapping[str, Mapping[str, str]]) -> Any:
    """What each table and view says, as JSON has it. `types` are the SQL types of the views' columns."""
    described: dict[str, Any] = {}
    for table in tables:
        described[table.name] = {
            "kind": "table",
            "meaning": table.meaning,
            "grain": table.grain,
            "columns": [
                {"name": c.name, "type": DUCKDB_TYPES[c.kind], "nullable": c.nullable, "meaning": c.meaning}
                for c in table.database_columns
            ],
        }
    for view in views:
        described[view.name] = {
            "kind": "view",
            "meaning": view.meaning,
            "grain": view.grain,
            "columns": [
                {"name": name, "type": types[view.name][name], "nullable": True, "meaning": meaning}
                for name, meaning in view.columns.items()
            ],
        }
    return described
