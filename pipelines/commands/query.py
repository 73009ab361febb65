"""`mbw query`: any SQL query, read-only and confined to the warehouse."""

from __future__ import annotations

import argparse
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


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("query", help=HELP, description=DESCRIPTION)
    parser.add_argument("sql", metavar="SQL", help="the query; - reads it from standard input")
    add_output(parser)
    add_warehouse(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import duckdb

    from pipelines.client.queries import check_query
    from pipelines.client.reader import SnapshotReader
    from pipelines.render import Style

    check_output(args)
    sql = _standard_input() if args.sql == "-" else args.sql
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
