"""Column lineage of the views, read off their SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import dagster as dg
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.lineage import Node, lineage

from pipelines.load.views import ViewFile, list_views
from schemas import TABLES

_DIALECT = "duckdb"


def column_sources(view: ViewFile, relations: Mapping[str, Iterable[str]]) -> dict[str, list[tuple[str, str]]]:
    """For each column of a view, the columns of tables and views that its value is made of, as (relation, column).

    `relations` names the columns of every table and view. A column made of none (a constant, count(*)) has no entry.
    """
    schema = {name: dict.fromkeys(columns, "VARCHAR") for name, columns in relations.items()}
    try:
        # Trimming would copy the whole statement for each column, and is for showing it only.
        roots = lineage(None, view.sql, schema, dialect=_DIALECT, trim_selects=False)
    except (SqlglotError, ValueError):  # a form of SQL that sqlglot does not follow: no lineage rather than no view
        return {}
    by_name = {name.casefold(): node for name, node in roots.items()}
    found = {}
    for column in view.output_columns:
        root = by_name.get(column.casefold())
        sources = {source for node in root.walk() for source in _source(node, relations)} if root else set()
        if sources:
            found[column] = sorted(sources)
    return found


def _source(node: Node, relations: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    table = node.expression
    if node.downstream or not isinstance(table, exp.Table) or table.name not in relations:
        return []
    wanted = node.name.rpartition(".")[2].strip('"').casefold()
    return [(table.name, column) for column in relations[table.name] if column.casefold() == wanted]


def columns_of_relations(views: Iterable[ViewFile]) -> dict[str, list[str]]:
    """The columns of every table and of these views."""
    columns = {table.name: [column.name for column in table.database_columns] for table in TABLES.values()}
    return columns | {view.name: list(view.output_columns) for view in views}


@cache
def column_lineage(baselines: tuple[str, ...] = ()) -> dict[str, dg.TableColumnLineage]:
    """The lineage of every view, by its name."""
    views = list_views(baselines)
    known = columns_of_relations(views)
    return {
        view.name: dg.TableColumnLineage(
            {
                column: [
                    dg.TableColumnDep(asset_key=dg.AssetKey(relation), column_name=name) for relation, name in used
                ]
                for column, used in column_sources(view, known).items()
            }
        )
        for view in views
    }
