"""Rows as script files. A page that is opened from a file may load scripts and nothing else, so data comes as calls:

    mbw.put("leaderboard", {"n": 2, "columns": [{"name": "rank", "kind": "integer", "values": [1, 2]}, …]});

Texts that occur more than once are stored once: such a column has `texts`, and `at`, the place of each row's text there
(null where NULL). What follows the name is JSON, but for NaN and infinities, which are written as JavaScript has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.archive.json_reader import dumps

#: Above this a JavaScript number does not hold every integer; such integers go as text.
_MAX_INTEGER = 2**53
_KINDS = {"BIGINT": "integer", "INTEGER": "integer", "DOUBLE": "number", "BOOLEAN": "boolean", "VARCHAR": "text"}


@dataclass(frozen=True)
class Rows:
    """The result of a query: names, DuckDB types, and the rows."""

    names: Sequence[str]
    types: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def as_data(self) -> dict[str, Any]:
        """The form that pages read."""
        values = list(zip(*self.rows, strict=True)) or [() for _ in self.names]
        columns = [
            _column(name, kind, column) for name, kind, column in zip(self.names, self.types, values, strict=True)
        ]
        return {"n": len(self.rows), "columns": columns}


def _column(name: str, sql_type: str, values: Sequence[Any]) -> dict[str, Any]:
    column: dict[str, Any] = {"name": name, "kind": _KINDS[sql_type]}
    if column["kind"] == "text":
        places = {text: place for place, text in enumerate(dict.fromkeys(v for v in values if v is not None))}
        if len(places) < len(values):
            return {**column, "texts": list(places), "at": [None if v is None else places[v] for v in values]}
    if column["kind"] == "integer":
        values = [str(v) if v is not None and abs(v) > _MAX_INTEGER else v for v in values]
    return {**column, "values": list(values)}


def split(rows: Rows, by: Iterable[str]) -> dict[tuple[Any, ...], Rows]:
    """The rows apart by the values of the columns `by`, each part in the order it had."""
    places = [list(rows.names).index(name) for name in by]
    parts: dict[tuple[Any, ...], list[Sequence[Any]]] = {}
    for row in rows.rows:
        parts.setdefault(tuple(row[place] for place in places), []).append(row)
    return {key: Rows(rows.names, rows.types, part) for key, part in parts.items()}


def script(name: str, data: Any) -> str:
    """A script that hands `data` to the page. Whatever texts hold, they stay texts: also where the script is put into a
    page, and in tools that end lines at U+2028."""
    return f"mbw.put({_escaped(name)}, {_escaped(data)});\n"


def _escaped(value: Any) -> str:
    text = dumps(value)
    for character in "<>&\u2028\u2029":
        # Outside of texts none of these occurs in JSON.
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
