-- comparable_groups{_all}: each scored group with the published numbers that systems are ranked by, and what keeps it
--     out of comparisons. {invalid_groups}
-- grain: group, protocol
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column weighted_average: As in results; NULL where excluded, not published or not finite.
-- column z_score: As in results; NULL where weighted_average is.
-- column excluded: Why the group is left out; NULL where it is in.
WITH published AS (
    SELECT
        summary_metrics.group_id,
        summary_metrics.protocol,
        MAX(summary_metrics.value) FILTER (WHERE summary_metrics.metric = 'weighted_average') AS weighted_average,
        MAX(summary_metrics.value) FILTER (WHERE summary_metrics.metric = 'z_score') AS z_score
    FROM summary_metrics
    GROUP BY
        summary_metrics.group_id,
        summary_metrics.protocol
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
        CASE
            WHEN group_protocols.validity = 'invalid' AND {only_valid}
                THEN CONCAT('invalid: ', COALESCE(group_protocols.validity_reasons, 'no reason was recorded'))
        END AS excluded
    FROM group_protocols
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
    CAST(
        CASE
            WHEN judged.excluded IS NULL AND ABS(published.weighted_average) <= 1.7976931348623157e308
                THEN published.weighted_average
        END AS DOUBLE
    ) AS weighted_average,
    CAST(
        CASE
            WHEN judged.excluded IS NULL AND ABS(published.weighted_average) <= 1.7976931348623157e308
                THEN published.z_score
        END AS DOUBLE
    ) AS z_score,
    judged.excluded
FROM judged
LEFT JOIN published
    ON
        judged.group_id = published.group_id
        AND judged.protocol = published.protocol
