"""What a warehouse offers by name: its tables, its views, and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from pipelines.client.reader import SnapshotReader
from pipelines.errors import UsageError
from pipelines.load.connection import CATALOG
from pipelines.load.views import quoted
from schemas import TABLES


class Relation(NamedTuple):
    """A table or a view; `kind` says which."""

    name: str
    kind: str
    meaning: str


def relations(reader: SnapshotReader) -> list[Relation]:
    """Every view, then every table, each by name; `prompts` too, wherever it is kept."""
    rows = reader.rows(
        "SELECT view_name, 'view', comment FROM duckdb_views() WHERE database_name = $catalog AND NOT internal "
        "UNION ALL SELECT table_name, 'table', comment FROM duckdb_tables() WHERE database_name = $catalog",
        {"catalog": CATALOG},
    )
    found = {name: Relation(name, kind, meaning or "") for name, kind, meaning in rows}
    for table in TABLES.values():
        found.setdefault(table.name, Relation(table.name, "table", f"{table.meaning} Grain: {table.grain}."))
    return sorted(found.values(), key=lambda relation: (relation.kind != "view", relation.name))


def selection(reader: SnapshotReader, name: str, filters: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """A query, with its parameters, for the rows of a table or view whose columns have the given value, or one of them
    where it is a list or the like; None is NULL.

    Raises:
        UsageError: there is no such table, or it has no such column.
    """
    names = [relation.name for relation in relations(reader)]
    if name not in names:
        raise UsageError(unknown("table or view", name, names))
    query = f"SELECT * FROM {quoted(name)}"
    if not filters:
        return query, []
    columns = [column[0] for column in reader.execute(f"{query} LIMIT 0").description]
    conditions, parameters = [], []
    for column, wanted in filters.items():
        if column not in columns:
            raise UsageError(f"{name} has no column {column!r}; it has {', '.join(columns)}.")
        is_one = isinstance(wanted, (str, bytes, Mapping)) or not isinstance(wanted, Iterable)
        values = [wanted] if is_one else list(wanted)
        given = [_plain(value) for value in values if value is not None]
        accepted = [f"{quoted(column)} IN ({', '.join('?' * len(given))})"] if given else []
        if None in values:
            accepted.append(f"{quoted(column)} IS NULL")
        conditions.append(f"({' OR '.join(accepted)})" if accepted else "false")
        parameters += given
    return f"{query} WHERE {' AND '.join(conditions)}", parameters


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python's, which is what parameters can be."""
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """A message for a name that is not there, with what may have been meant."""
    near = get_close_matches(name, known, n=3)
    meant = f"Did you mean {' or '.join(near)}?" if near else f"There is: {', '.join(known) or 'none'}."
    return f"There is no {what} {name!r}. {meant}"
