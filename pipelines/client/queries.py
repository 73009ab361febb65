"""Which SQL is a query."""

from __future__ import annotations

import re

from pipelines.errors import UsageError
from pipelines.normalize.records import is_unicode

_SPACE = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
_COMMENTS = re.compile(_SPACE, re.DOTALL)
_EXPLAIN = re.compile(rf"EXPLAIN\b{_SPACE}(?:(?:ANALY[SZ]E\b|\([^()]*\)){_SPACE})*", re.DOTALL | re.IGNORECASE)


def check_query(sql: str) -> None:
    """Check that it is one statement, and one that asks and changes nothing.

    That nothing outside of the warehouse is touched does not rest on this check: the session is locked as well.

    Raises:
        UsageError: it is not.
    """
    import duckdb

    if not is_unicode(sql):
        raise UsageError("The query is not valid UTF-8.")
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1:
        found = "no statement" if not statements else f"{len(statements)} statements"
        raise UsageError(f"One query at a time: found {found}.")
    kind = statements[0].type
    allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN, duckdb.StatementType.MULTI)
    begin = _first_word(sql)
    first = sql[begin:][:8].upper()
    # PIVOT is several statements to DuckDB, and so is what creates a table from one.
    asks = first.startswith(("PIVOT", "FROM", "SELECT", "WITH", "(", "EXPLAIN"))
    if kind not in allowed or (kind == duckdb.StatementType.MULTI and not asks):
        raise UsageError(f"Only queries can be run (SELECT, FROM, WITH, PIVOT, DESCRIBE, SHOW …), found {kind.name}.")
    explained = _EXPLAIN.match(sql, begin)
    if explained:  # EXPLAIN ANALYZE runs what it explains
        check_query(sql[explained.end() :])


def _first_word(sql: str) -> int:
    found = _COMMENTS.match(sql)
    return found.end() if found else 0
