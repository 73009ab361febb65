"""`mbw query`: any SQL query, read-only and confined to the warehouse."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from pipelines.commands.arguments import DONE, add_warehouse, warehouse_of
from pipelines.commands.output import LEADING, QueryResult, add_output, check_output, fitted, write_result
from pipelines.errors import MemoryBenchWarehouseError, UsageError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

HELP = "run an SQL query on the warehouse's tables and views"
DESCRIPTION = (
    "Runs one SQL query (DuckDB's dialect) on the published tables and views; `FROM prompts` reads the prompts. The "
    "query can read nothing outside of the warehouse and can change nothing. A table that is too wide for the terminal "
    "goes on below itself."
)
_SPACE = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
_COMMENTS = re.compile(_SPACE, re.DOTALL)
_EXPLAIN = re.compile(rf"EXPLAIN\b{_SPACE}(?:(?:ANALY[SZ]E\b|\([^()]*\)){_SPACE})*", re.DOTALL | re.IGNORECASE)


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("query", help=HELP, description=DESCRIPTION)
    parser.add_argument("sql", metavar="SQL", help="the query; - reads it from standard input")
    add_output(parser)
    add_warehouse(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import duckdb

    from pipelines.client.reader import SnapshotReader
    from pipelines.normalize.records import is_unicode
    from pipelines.render import Style

    check_output(args)
    sql = _standard_input() if args.sql == "-" else args.sql
    if not is_unicode(sql):
        raise UsageError("The query is not valid UTF-8.")
    with SnapshotReader(warehouse_of(args)) as reader:
        try:
            check_query(sql)
            reader.lock()
            write_result(args, fitted(args, QueryResult(reader, sql, style=Style(leading=LEADING))))
        except duckdb.InterruptException as error:
            raise KeyboardInterrupt from error
        except duckdb.PermissionException as error:
            raise UsageError(
                f"{error}\nmbw query reads this warehouse and nothing else; prompts are read with: FROM prompts"
            ) from error
        except duckdb.ProgrammingError as error:
            raise UsageError(str(error)) from error
        except duckdb.Error as error:
            raise MemoryBenchWarehouseError(str(error)) from error
    return DONE


def _standard_input() -> str:
    """The query that is piped in.

    Raises:
        MemoryBenchWarehouseError: nothing can be read there.
        UsageError: it is no text.
    """
    import sys

    if sys.stdin is None:
        raise MemoryBenchWarehouseError("Standard input is closed: there is no query to read.")
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError(f"The query is not valid {error.encoding.upper()}.") from error
    except OSError as error:
        raise MemoryBenchWarehouseError(f"Standard input cannot be read: {error.strerror or error}.") from error


def check_query(sql: str) -> None:
    """Check that it is one statement, and one that asks and changes nothing.

    That nothing outside of the warehouse is touched does not rest on this check: the session is locked as well.

    Raises:
        UsageError: it is not.
    """
    import duckdb

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
