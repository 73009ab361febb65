"""What is shown beside an asset: descriptions and column schemas from the declarations, figures and previews from a
published snapshot."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import dagster as dg
import duckdb

from pipelines.load.partitions import PART
from pipelines.load.snapshots import Snapshot
from pipelines.load.views import ViewFile, literal, quoted
from schemas.model import DUCKDB_TYPES, KEYS, Table

OWNERS = ["team:memorybench"]
#: A preview's rows, columns and characters in a cell.
PREVIEW_ROWS = 5
PREVIEW_COLUMNS = 10
PREVIEW_CHARS = 60

Metadata = dict[str, Any]


def table_schema(table: Table) -> dg.TableSchema:
    """The columns of a table as DuckDB has them."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                column.name,
                DUCKDB_TYPES[column.kind],
                column.meaning,
                dg.TableColumnConstraints(nullable=column.nullable),
            )
            for column in table.database_columns
        ]
    )


def view_schema(view: ViewFile, types: Mapping[str, str] | None = None) -> dg.TableSchema:
    """The columns of a view; their types where the database was asked for them."""
    described = dict(view.columns)
    names = types if types is not None else described
    return dg.TableSchema(
        columns=[dg.TableColumn(name, (types or {}).get(name, ""), described.get(name)) for name in names]
    )


def data_version(text: str) -> dg.DataVersion:
    """A version that is equal where `text` is."""
    return dg.DataVersion(hashlib.sha256(text.encode()).hexdigest()[:16])


@contextmanager
def reading(snapshot: Snapshot) -> Iterator[duckdb.DuckDBPyConnection]:
    """The snapshot's database, read-only."""
    config: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    with duckdb.connect(str(snapshot.path.resolve() / snapshot.database.name), read_only=True, config=config) as opened:
        yield opened


def table_metadata(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, table: Table) -> Metadata:
    """Rows, bytes, revision and the first rows of a published table."""
    folder = snapshot.parquet / table.name
    if table.in_database or snapshot.info.embed_prompts:
        relation = quoted(table.name)
    else:
        pattern = "/".join([table.name, *("*" for _ in KEYS if table.grouped), PART])
        if next(snapshot.parquet.glob(pattern), None) is None:
            return _figures(snapshot, 0, folder)
        options = "hive_partitioning = true, hive_types_autocast = false"
        relation = f"read_parquet({literal(f'{snapshot.parquet}/{pattern}')}, {options})"
    columns = [column.name for column in table.database_columns if not column.long_text and column.kind != "messages"]
    rows = _count(connection, relation)
    return {**_figures(snapshot, rows, folder), "preview": _preview(connection, relation, columns)}


def view_metadata(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, view: ViewFile) -> Metadata:
    """Rows, revision, columns with types, and the first rows of a published view."""
    started = perf_counter()
    relation = quoted(view.name)
    types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE {relation}").fetchall()}
    rows = _count(connection, relation)
    preview = _preview(connection, relation, list(types))
    return {
        "dagster/row_count": rows,
        "revision": snapshot.info.revision,
        "preview": preview,
        "dagster/column_schema": view_schema(view, types),
        "seconds": round(perf_counter() - started, 3),
    }


def database_metadata(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot) -> Metadata:
    """What the database file holds and which refresh made it."""
    tables = connection.execute(
        "SELECT table_name, estimated_size FROM duckdb_tables() WHERE NOT internal ORDER BY table_name"
    ).fetchall()
    groups = connection.execute("SELECT status, count(*) FROM result_groups GROUP BY status ORDER BY status").fetchall()
    return {
        "bytes": snapshot.database.stat().st_size,
        "revision": snapshot.info.revision,
        "refresh_id": snapshot.info.refresh_id,
        "source": snapshot.info.source,
        "path": dg.MetadataValue.path(str(snapshot.database)),
        "groups": dg.MetadataValue.md(markdown_table(("status", "groups"), groups)),
        "preview": dg.MetadataValue.md(markdown_table(("table", "rows"), tables)),
    }


def _figures(snapshot: Snapshot, rows: int, folder: Path) -> Metadata:
    n_bytes = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
    return {"dagster/row_count": rows, "bytes": n_bytes, "revision": snapshot.info.revision}


def _count(connection: duckdb.DuckDBPyConnection, relation: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()
    assert row is not None
    return int(row[0])


def _preview(connection: duckdb.DuckDBPyConnection, relation: str, columns: list[str]) -> dg.MarkdownMetadataValue:
    shown = columns[:PREVIEW_COLUMNS]
    selected = ", ".join(quoted(name) for name in shown)
    rows = connection.execute(f"SELECT {selected} FROM {relation} LIMIT {PREVIEW_ROWS}").fetchall()
    return dg.MetadataValue.md(markdown_table(shown, rows))


def markdown_table(header: list[str] | tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """Rows as a Markdown table, whatever the cells hold."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(value) for value in line) + " |" for line in lines)


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    if len(text) > PREVIEW_CHARS:
        text = text[: PREVIEW_CHARS - 1] + "…"
    for character, instead in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("\r", " "), ("\n", " ")):
        text = text.replace(character, instead)
    return text.encode("utf-8", "replace").decode()
