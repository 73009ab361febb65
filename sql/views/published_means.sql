-- published_means: the published means of min-max scores of each scored group, and whether each can be one. What is
--     ranked is ranked by this, and the audits ask it too, so that there is one answer.
-- grain: group, protocol, metric
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column metric: average or weighted_average.
-- column value: The number as published; NULL where none is.
-- column is_finite: Whether a number is published that is finite.
-- column is_out_of_range: Whether it is finite and lies outside of 0 to 1, by more than 1e-9 for rounding. A mean of
--     min-max scores lies inside; beyond the constants of the normalization, single scores do not.
-- column excluded: Why nothing is ranked by it; NULL where it is a mean that can be.
WITH means AS (
    SELECT 'average' AS metric
    UNION ALL
    SELECT 'weighted_average' AS metric
),

published AS (
    SELECT
        summary_metrics.group_id,
        summary_metrics.protocol,
        summary_metrics.metric,
        MAX(summary_metrics.value) AS value
    FROM summary_metrics
    GROUP BY
        summary_metrics.group_id,
        summary_metrics.protocol,
        summary_metrics.metric
),

judged AS (
    SELECT
        group_protocols.experiment,
        group_protocols.backbone,
        group_protocols.split,
        group_protocols.collection,
        group_protocols.baseline,
        group_protocols.group_id,
        group_protocols.protocol,
        CAST(means.metric AS VARCHAR) AS metric,
        published.value,
        COALESCE(ABS(published.value) <= 1.7976931348623157e308, FALSE) AS is_finite,
        COALESCE(published.value >= -1e-9 AND published.value <= 1 + 1e-9, FALSE) AS is_in_range
    FROM group_protocols
    CROSS JOIN means
    LEFT JOIN published
        ON
            group_protocols.group_id = published.group_id
            AND group_protocols.protocol = published.protocol
            AND means.metric = published.metric
    WHERE group_protocols.protocol IS NOT NULL
)

SELECT
    judged.experiment,
    judged.backbone,
    judged.split,
    judged.collection,
    judged.baseline,
    judged.group_id,
    judged.protocol,
    judged.metric,
    judged.value,
    judged.is_finite,
    judged.is_finite AND NOT judged.is_in_range AS is_out_of_range,
    CAST(
        CASE
            WHEN NOT judged.is_finite THEN CONCAT('no finite ', judged.metric, ' is published')
            WHEN NOT judged.is_in_range THEN CONCAT('the published ', judged.metric, ' is outside of 0 to 1')
        END AS VARCHAR
    ) AS excluded
FROM judged
