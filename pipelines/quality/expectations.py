"""Expectation suites, derived from the declarations in schemas/: what every loaded table must be like.

Nothing is declared here twice: nullability, bounds, allowed values, keys and references come from the tables, metric
and score ranges from the reference data. Great Expectations runs the suites (gx_runner.py); this module does not import
it. Long text and prompts are never looked at: a suite's frame holds the columns that are checked and those that name a
row.

That no column declared without NULLs holds one is the database's own constraint; the suite `columns` checks that the
constraint is there.

A suite that fails because this program is wrong (a duplicate key, a count that disagrees with the source, a missing
column) blocks publication. What the published data itself may do (a metric out of its range, an evaluation of a sample
that was never predicted) is a finding.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pipelines.archive.groups import RUN_CONFIG, SUMMARY
from pipelines.load.views import literal, quoted
from pipelines.quality.ranges import metric_range_suites, score_range_suites
from pipelines.quality.row_counts import row_count_suite
from pipelines.quality.suite import Expectation, Suite, range_text
from schemas import TABLES
from schemas.model import DUCKDB_TYPES, KEYS, Column, Reference, Table

if TYPE_CHECKING:
    import duckdb


def contract_suite(tables: Iterable[Table], catalog: str) -> Suite:
    """Whether the database has the columns that are declared, with their types, and no others."""
    tables = list(tables)
    declared = ", ".join(
        f"({literal(table.name)}, {literal(column.name)}, {literal(_declaration(column))})"
        for table in tables
        for column in table.database_columns
    )
    names = ", ".join(literal(table.name) for table in tables)
    query = f"""
        WITH declared (table_name, column_name, declared) AS (VALUES {declared}),
        actual AS (
            SELECT table_name, column_name,
                data_type || CASE WHEN is_nullable THEN '' ELSE ' NOT NULL' END AS actual
            FROM duckdb_columns()
            WHERE database_name = {literal(catalog)} AND table_name IN ({names})
        )
        SELECT table_name, column_name, coalesce(declared, 'nothing') AS declared, coalesce(actual, 'nothing') AS actual
        FROM declared FULL JOIN actual USING (table_name, column_name)
        ORDER BY ALL
    """
    expectation = Expectation(
        "columns",
        "ExpectColumnPairValuesToBeEqual",
        {"column_A": "declared", "column_B": "actual"},
        "each table has the columns that are declared",
        evidence=("declared", "actual"),
    )
    return Suite("columns", query, ("table_name", "column_name"), (expectation,))


def _declaration(column: Column) -> str:
    return DUCKDB_TYPES[column.kind] + ("" if column.nullable else " NOT NULL")


def suites(connection: duckdb.DuckDBPyConnection, prompts_pattern: str | None) -> list[Suite]:
    """Every suite for the database that is the connection's default. `prompts_pattern` matches the Parquet files of
    prompts, which are counted and never read; None where there are none."""
    return [
        *(_table_suite(connection, table) for table in TABLES.values() if table.in_database),
        row_count_suite(prompts_pattern),
        *metric_range_suites(connection),
        *score_range_suites(connection),
    ]


def _table_suite(connection: duckdb.DuckDBPyConnection, table: Table) -> Suite:
    columns = table.columns
    expectations = []
    if rule := _ROWS_EXPECTED.get(table.name):
        blocks = table.name not in _EMPTY_IS_THINKABLE
        row = connection.execute(f"SELECT {rule}").fetchone()
        if row is not None and row[0]:
            expectations.append(
                Expectation(
                    "table_not_empty",
                    "ExpectTableRowCountToBeBetween",
                    {"min_value": 1},
                    f"{table.name} has rows, because the archive has records for it",
                    blocks=blocks,
                )
            )
    if table.key:
        expectations.append(_unique_key(table))
    for column in columns:
        expectations += _bounds(column)
    found = [*_references(table)]
    expectations += [
        Expectation(
            check="reference",
            kind="ExpectColumnValuesToBeInSet",
            arguments={"column": name, "value_set": [True]},
            meaning=f"every row's {' and '.join(reference.columns)} stands in {reference.table}",
            severity="error" if blocks else "warning",
            blocks=blocks,
        )
        for name, reference, blocks, _ in found
    ]
    checked = {e.arguments["column"] for e in expectations if "column" in e.arguments}
    shown = [c.name for c in columns if c.name in checked or c.name in table.key or c.name == "group_id"]
    select = [f"source.{quoted(name)}" for name in shown]
    select += [f"{_exists(table, reference, where)} AS {quoted(name)}" for name, reference, _, where in found]
    query = f"SELECT {', '.join(select)} FROM {quoted(table.name)} AS source"
    labels = tuple(name for name in table.key if name != "group_id")
    by_group = "group_id" in table.key and not table["group_id"].nullable
    return Suite(table.name, query, labels, tuple(expectations), table.name if by_group else None)


def _unique_key(table: Table) -> Expectation:
    meaning = f"{', '.join(table.key)} identify a row of {table.name}"
    if len(table.key) == 1:
        return Expectation("unique_key", "ExpectColumnValuesToBeUnique", {"column": table.key[0]}, meaning)
    return Expectation("unique_key", "ExpectCompoundColumnsToBeUnique", {"column_list": list(table.key)}, meaning)


def _bounds(column: Column) -> list[Expectation]:
    found = []
    if column.minimum is not None or column.maximum is not None:
        meaning = f"{column.name} lies {range_text(column.minimum, column.maximum)}"
        limits = {"column": column.name, "min_value": column.minimum, "max_value": column.maximum}
        found.append(Expectation("bounds", "ExpectColumnValuesToBeBetween", limits, meaning))
    if column.values:
        meaning = f"{column.name} is one of {', '.join(column.values)}"
        allowed = {"column": column.name, "value_set": list(column.values)}
        found.append(Expectation("allowed_values", "ExpectColumnValuesToBeInSet", allowed, meaning))
    return found


def _references(table: Table) -> Iterable[tuple[str, Reference, bool, str | None]]:
    """Every reference of a table: the frame's column that says whether it holds, the reference, whether a breach
    blocks, and a condition without which it does not apply.

    Beside the declared ones, a column that several tables share points to the table that it is the key of.
    """
    for reference in table.references:
        yield f"in_{reference.table}", reference, True, None
    names = [column.name for column in table.database_columns]
    of_a_group = "group_id" in names and not table["group_id"].nullable
    if of_a_group and not table.historical and table.name != "result_groups":
        keys = ("group_id", *(key for key in KEYS if key in names))
        yield "in_result_groups", Reference(keys, "result_groups", keys), True, None
    if table.name == "result_groups":
        yield "in_baselines", Reference(("baseline",), "baselines", ("baseline",)), True, None
    if table.name == "evaluations":
        predicted = ("group_id", "dataset", "test_idx")
        with_predictions = "(SELECT n_predictions FROM result_groups WHERE group_id = source.group_id) IS NOT NULL"
        yield "in_predictions", Reference(predicted, "predictions", predicted), False, with_predictions
    if table.name == "sample_scores":
        scored = ("group_id", "protocol", "dataset", "test_idx")
        yield "in_evaluations", Reference(scored, "evaluations", scored), True, "source.dataset IS NOT NULL"
    if table.grouped and "dataset" in names and not table.references:
        yield "in_datasets", Reference(("dataset",), "datasets", ("dataset",)), True, "source.dataset IS NOT NULL"
    if table.grouped and "dataset_group" in names:
        reference = Reference(("dataset_group",), "datasets", ("dataset_group",))
        yield "dataset_group_in_datasets", reference, False, None


def _exists(table: Table, reference: Reference, where: str | None) -> str:
    equal = " AND ".join(
        f"target.{quoted(to)} = source.{quoted(column)}"
        for column, to in zip(reference.columns, reference.to, strict=True)
    )
    exists = f"EXISTS (SELECT 1 FROM {quoted(reference.table)} AS target WHERE {equal})"
    return f"({exists} OR NOT ({where}))" if where else exists


def _has_file(name: str) -> str:
    return (
        "EXISTS (SELECT 1 FROM result_groups WHERE status <> 'quarantined' "
        f"AND list_contains(json_extract_string(files, '$[*].name'), {literal(name)}))"
    )


#: When a table must have rows: its source file is there in some group and has records. Reference data is always there.
#: findings and refreshes may be empty.
_ROWS_EXPECTED = {
    "result_groups": "true",
    "datasets": "true",
    "baselines": "true",
    "normalization": "true",
    "run_configs": _has_file(RUN_CONFIG),
    "predictions": "EXISTS (SELECT 1 FROM result_groups WHERE n_predictions > 0)",
    "evaluations": "EXISTS (SELECT 1 FROM result_groups WHERE n_evaluations > 0)",
    "sample_metrics": "(SELECT coalesce(sum(n_metrics), 0) FROM evaluations WHERE residue IS NULL)"
    " > (SELECT count(*) FROM sample_annotations)",
    "sample_annotations": "(SELECT coalesce(sum(n_metrics), 0) FROM evaluations WHERE residue IS NULL)"
    " > (SELECT count(*) FROM sample_metrics)",
    "sample_scores": "EXISTS (SELECT 1 FROM result_groups WHERE n_scores > 0)",
    "summary_metrics": _has_file(SUMMARY),
    "summary_datasets": "EXISTS (SELECT 1 FROM sample_scores WHERE origin = 'published')",
}

#: Tables that an odd archive may leave empty (every `summary` an empty object): a finding, not a reason to stop.
_EMPTY_IS_THINKABLE = ("summary_metrics", "summary_datasets")
