"""What a table is: columns declared once, from which everything else is derived.

The Arrow schema, the DuckDB table and its comments, the expectation suite and the table reference in docs/ are all
rendered from the declarations made with these classes. Nothing here knows about any one table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

#: The column types that a declaration may use. Few on purpose: each is read alike by DuckDB, Spark, R, Polars, pandas.
Kind = Literal["text", "json", "integer", "number", "boolean", "timestamp", "messages"]

DUCKDB_TYPES: dict[Kind, str] = {
    "text": "VARCHAR",
    "json": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "messages": "STRUCT(role VARCHAR, content VARCHAR)[]",
}


@dataclass(frozen=True)
class Column:
    """One column: its name, type, nullability and meaning.

    `minimum` and `maximum` bound every finite value, `values` lists the only values allowed; both become expectations.
    `long_text` marks text that is stored compressed and left out of narrow frames. `provenance` marks what may differ
    between two builds of the same content (clock times, places).
    """

    name: str
    kind: Kind
    meaning: str
    nullable: bool = False
    minimum: float | None = None
    maximum: float | None = None
    values: tuple[str, ...] = ()
    long_text: bool = False
    provenance: bool = False


@dataclass(frozen=True)
class Table:
    """One table: its grain, its columns and where its rows live.

    `grouped` tables have one Parquet file for each result group, with the five keys in the path; the others are one
    file. `in_database` is false for `prompts` alone, whose bulk stays in Parquet. `historical` tables keep rows of
    groups that are gone from the archive. `key` names the columns that identify a row, `references` the tables whose
    key this table's columns point to.
    """

    name: str
    grain: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    grouped: bool = True
    in_database: bool = True
    historical: bool = False
    references: tuple[Reference, ...] = field(default=())

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"table {self.name} has no column {name!r}")

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def database_columns(self) -> tuple[Column, ...]:
        """The columns in DuckDB: a grouped table's are preceded by the five keys, which Parquet has in the path."""
        return KEY_COLUMNS + self.columns if self.grouped else self.columns

    def arrow_schema(self) -> pa.Schema:
        """The schema of the table's Parquet files (the keys of a grouped table are in the path, not in here)."""
        return _arrow_schema(self)


@cache
def _arrow_schema(table: Table) -> pa.Schema:
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "json": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "messages": pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())])),
    }
    return pa.schema([pa.field(c.name, types[c.kind], nullable=c.nullable) for c in table.columns])


@dataclass(frozen=True)
class Reference:
    """Every value of `columns` (where not NULL) must stand in `table`'s `to` columns."""

    columns: tuple[str, ...]
    table: str
    to: tuple[str, ...]


def key_columns(*, nullable: bool = False) -> tuple[Column, ...]:
    """The five keys of a result group, in the published spelling."""
    return (
        Column("experiment", "text", "How the system was run; the publisher's `exp`, such as off-policy.", nullable),
        Column("backbone", "text", "The language model that answers; the publisher's `model`.", nullable),
        Column(
            "split", "text", "How datasets are collected: domain or task; the publisher's `dataset_type`.", nullable
        ),
        Column(
            "collection", "text", "The collection of datasets inside the split; the publisher's `set_name`.", nullable
        ),
        Column("baseline", "text", "The memory system; the publisher's `baseline`, wo_memory being none.", nullable),
    )


KEY_COLUMNS = key_columns()
KEYS = tuple(column.name for column in KEY_COLUMNS)

METRICS = "metrics"
LLM_JUDGE = "llm_judge"
PROTOCOLS = (METRICS, LLM_JUDGE)

# Columns that several tables share, declared once.
GROUP_ID = Column(
    "group_id",
    "text",
    "The five keys joined by '/', such as off-policy/Qwen3-8B/domain/Open-Domain/a_mem ('/' and '%' inside a key are "
    "percent-encoded). Makes a single Parquet file self-describing.",
)
PROTOCOL = Column(
    "protocol",
    "text",
    "How responses were scored: metrics (the benchmark's own) or llm_judge. Told by content; never mixed in a number.",
    values=PROTOCOLS,
)
DATASET = Column("dataset", "text", "The dataset as published, such as Locomo-3 or JuDGE.")
TEST_IDX = Column("test_idx", "integer", "The sample's index inside its dataset; not unique without `dataset`.")
DATASET_GROUP = Column(
    "dataset_group", "text", "The dataset with Locomo-0..9 folded into Locomo, as the published summaries do."
)
RESIDUE = Column(
    "residue",
    "json",
    "What of the published record does not fit the columns (unknown keys, another key order, text that is not valid "
    "Unicode), as JSON; NULL where all of it fits. With it the record comes back exactly.",
    nullable=True,
    long_text=True,
)
