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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipelines.archive.groups import EVALUATE_DETAILS, RUN_CONFIG, SUMMARY
from pipelines.findings import Severity
from pipelines.load.views import literal, quoted
from schemas import TABLES
from schemas.model import DUCKDB_TYPES, KEYS, LLM_JUDGE, METRICS, Column, Reference, Table
from schemas.reference.datasets import MetricRange, metric_range, score_range

if TYPE_CHECKING:
    import duckdb


#: The widest scale that a judge's scores were seen on; which of the known scales a group has is told by its values.
JUDGE_RANGE = (0.0, 10.0)


@dataclass(frozen=True)
class Expectation:
    """One expectation of Great Expectations (`kind` is its class), and what its failure means.

    `check` is the word that findings have, `meaning` completes "expected that …". `evidence` are columns shown beside
    those that name a failing row.
    """

    check: str
    kind: str
    arguments: dict[str, Any]
    meaning: str
    severity: Severity = "error"
    blocks: bool = True
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """Expectations on one frame. `query` gives the frame; `labels` are its columns that name a row; where the frame
    has a column group_id, failing rows are reported by group.

    `groups_of` is a table with as many rows of each group as the frame, where no expectation is about rows of several
    groups, so that they may be checked some at a time.
    """

    name: str
    query: str
    labels: tuple[str, ...]
    expectations: tuple[Expectation, ...] = field(default=())
    groups_of: str | None = None


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
        _row_count_suite(prompts_pattern),
        *_metric_range_suites(connection),
        *_score_range_suites(connection),
    ]


# Tables ---------------------------------------------------------------------------------------------------------------


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
        meaning = f"{column.name} lies {_range_text(column.minimum, column.maximum)}"
        limits = {"column": column.name, "min_value": column.minimum, "max_value": column.maximum}
        found.append(Expectation("bounds", "ExpectColumnValuesToBeBetween", limits, meaning))
    if column.values:
        meaning = f"{column.name} is one of {', '.join(column.values)}"
        allowed = {"column": column.name, "value_set": list(column.values)}
        found.append(Expectation("allowed_values", "ExpectColumnValuesToBeInSet", allowed, meaning))
    return found


def _range_text(minimum: float | None, maximum: float | None) -> str:
    if minimum is None:
        return f"at or below {maximum:g}"
    if maximum is None:
        return f"at or above {minimum:g}"
    return f"between {minimum:g} and {maximum:g}"


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


# Row counts -----------------------------------------------------------------------------------------------------------

_COUNTED = (
    ("predictions", "records of predict.json (n_predictions)"),
    ("prompts", "records of predict.json (n_predictions)"),
    ("evaluations", "records of evaluate_details.json (n_evaluations)"),
    ("metrics", "keys of metrics (evaluations.n_metrics)"),
    ("sample_scores", "scores (n_scores)"),
    ("run_configs", "files run_config.json"),
)


def _row_count_suite(prompts_pattern: str | None) -> Suite:
    """Whether each group has as many rows in each table as its files had records when they were read."""
    prompts = "SELECT NULL AS group_id, 0 AS n WHERE false"
    if prompts_pattern is not None:
        prompts = (
            f"SELECT group_id, count(*) AS n FROM read_parquet({literal(prompts_pattern)}, hive_partitioning = false) "
            "GROUP BY group_id"
        )
    query = f"""
        WITH predictions_n AS (SELECT group_id, count(*) AS n FROM predictions GROUP BY group_id),
        prompts_n AS ({prompts}),
        evaluations_n AS (
            SELECT group_id, count(*) AS n FROM evaluations
            WHERE source_file = {literal(EVALUATE_DETAILS)} GROUP BY group_id
        ),
        -- A record with a residue may hold metrics that no row can have a name for.
        metrics_expected AS (
            SELECT group_id, sum(n_metrics) AS n FROM evaluations WHERE residue IS NULL GROUP BY group_id
        ),
        kept_aside AS (SELECT group_id, protocol, dataset, test_idx FROM evaluations WHERE residue IS NOT NULL),
        metrics_n AS (
            SELECT group_id, count(*) AS n
            FROM (
                SELECT group_id, protocol, dataset, test_idx FROM sample_metrics
                UNION ALL
                SELECT group_id, protocol, dataset, test_idx FROM sample_annotations
            ) ANTI JOIN kept_aside USING (group_id, protocol, dataset, test_idx)
            GROUP BY group_id
        ),
        sample_scores_n AS (SELECT group_id, count(*) AS n FROM sample_scores GROUP BY group_id),
        run_configs_n AS (SELECT group_id, count(*) AS n FROM run_configs GROUP BY group_id)
        SELECT
            groups.group_id,
            coalesce(groups.n_predictions, 0) AS predictions_expected,
            coalesce(predictions_n.n, 0) AS predictions_rows,
            coalesce(groups.n_predictions, 0) AS prompts_expected,
            coalesce(prompts_n.n, 0) AS prompts_rows,
            coalesce(groups.n_evaluations, 0) AS evaluations_expected,
            coalesce(evaluations_n.n, 0) AS evaluations_rows,
            CAST(coalesce(metrics_expected.n, 0) AS BIGINT) AS metrics_expected,
            coalesce(metrics_n.n, 0) AS metrics_rows,
            coalesce(groups.n_scores, 0) AS sample_scores_expected,
            coalesce(sample_scores_n.n, 0) AS sample_scores_rows,
            CAST(
                groups.status <> 'quarantined'
                AND list_contains(json_extract_string(groups.files, '$[*].name'), {literal(RUN_CONFIG)})
                AS BIGINT
            ) AS run_configs_expected,
            coalesce(run_configs_n.n, 0) AS run_configs_rows
        FROM result_groups AS groups
        LEFT JOIN predictions_n USING (group_id)
        LEFT JOIN prompts_n USING (group_id)
        LEFT JOIN evaluations_n USING (group_id)
        LEFT JOIN metrics_expected USING (group_id)
        LEFT JOIN metrics_n USING (group_id)
        LEFT JOIN sample_scores_n USING (group_id)
        LEFT JOIN run_configs_n USING (group_id)
        ORDER BY group_id
    """
    expectations = tuple(
        Expectation(
            "row_count",
            "ExpectColumnPairValuesToBeEqual",
            {"column_A": f"{name}_expected", "column_B": f"{name}_rows"},
            f"each group has as many rows of {_counted_table(name)} as its files have {records}",
            evidence=(f"{name}_expected", f"{name}_rows"),
        )
        for name, records in _COUNTED
    )
    return Suite("row_counts", query, (), expectations)


def _counted_table(name: str) -> str:
    return "sample_metrics and sample_annotations" if name == "metrics" else name


# Ranges ---------------------------------------------------------------------------------------------------------------


def _metric_range_suites(connection: duckdb.DuckDBPyConnection) -> list[Suite]:
    """Each finite metric of a known range within it. One frame of samples with a column for each range, so that all
    ranges cost one pass; a metric without a range is data like any other."""
    observed = connection.execute("SELECT DISTINCT dataset, metric FROM sample_metrics ORDER BY ALL").fetchall()
    by_range: dict[MetricRange, list[tuple[str, str]]] = {}
    for dataset, metric in observed:
        known = metric_range(dataset, metric)
        if known is not None and not (known.minimum is None and known.maximum is None):
            by_range.setdefault(known, []).append((dataset, metric))
    if not by_range:
        return []
    columns = {f"{known.dataset_pattern} {known.metric}": pairs for known, pairs in by_range.items()}
    conditions = {}
    for column, pairs in columns.items():
        names = ", ".join(literal(dataset) for dataset, _ in pairs)
        conditions[column] = f"dataset IN ({names}) AND metric = {literal(pairs[0][1])}"
    labels = ("protocol", "dataset", "test_idx")
    columns_of_ranges = ", ".join(
        f"any_value(value) FILTER ({condition}) AS {quoted(column)}" for column, condition in conditions.items()
    )
    query = f"""
        SELECT group_id, {", ".join(labels)}, {columns_of_ranges} FROM sample_metrics WHERE isfinite(value)
        GROUP BY ALL ORDER BY group_id, {", ".join(labels)}
    """
    expectations = tuple(
        _in_range("metric_range", column, known.minimum, known.maximum)
        for column, known in zip(columns, by_range, strict=True)
    )
    return [Suite("metric_ranges", query, labels, expectations, "evaluations")]


def _score_range_suites(connection: duckdb.DuckDBPyConnection) -> list[Suite]:
    """Each finite score within the published range of its dataset; a judge's within the widest scale known."""
    observed = connection.execute("SELECT DISTINCT protocol, dataset_group FROM sample_scores ORDER BY ALL").fetchall()
    conditions: dict[str, str] = {}
    ranges: dict[str, tuple[float, float]] = {}
    for protocol, name in observed:
        limits = score_range(name, protocol)
        if protocol == METRICS and limits is not None:
            ranges[name] = limits
            conditions[name] = f"protocol = {literal(METRICS)} AND dataset_group = {literal(name)}"
        elif protocol == LLM_JUDGE:
            ranges[LLM_JUDGE] = JUDGE_RANGE
            conditions[LLM_JUDGE] = f"protocol = {literal(LLM_JUDGE)}"
    if not ranges:
        return []
    labels = ("protocol", "dataset_group", "dataset", "test_idx", "position")
    columns_of_ranges = ", ".join(
        f"CASE WHEN {condition} THEN score END AS {quoted(column)}" for column, condition in conditions.items()
    )
    query = f"SELECT group_id, {', '.join(labels)}, {columns_of_ranges} FROM sample_scores WHERE isfinite(score)"
    expectations = tuple(_in_range("score_range", column, *limits) for column, limits in ranges.items())
    return [Suite("score_ranges", query, labels, expectations, "sample_scores")]


def _in_range(check: str, column: str, minimum: float | None, maximum: float | None) -> Expectation:
    return Expectation(
        check,
        "ExpectColumnValuesToBeBetween",
        {"column": column, "min_value": minimum, "max_value": maximum},
        f"{column} lies {_range_text(minimum, maximum)}",
        severity="warning",
        blocks=False,
    )
