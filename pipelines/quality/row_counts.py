"""The suite that holds the number of rows of each group and table against what its files had."""

from __future__ import annotations

from pipelines.archive.groups import EVALUATE_DETAILS, RUN_CONFIG
from pipelines.load.views import literal
from pipelines.quality.suite import Expectation, Suite

_COUNTED = (
    ("predictions", "records of predict.json (n_predictions)"),
    ("prompts", "records of predict.json (n_predictions)"),
    ("evaluations", "records of evaluate_details.json (n_evaluations)"),
    ("metrics", "keys of metrics (evaluations.n_metrics)"),
    ("sample_scores", "scores (n_scores)"),
    ("run_configs", "files run_config.json"),
)


def row_count_suite(prompts_pattern: str | None) -> Suite:
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
