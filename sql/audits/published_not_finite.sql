-- published_not_finite: numbers of a summary that are NaN or infinite, or an integer that no float holds; nothing is ranked
--     by them.
-- grain: group, protocol, what
-- severity: warning
-- message: the published {what} is {value}, which is no finite number (protocol {protocol})
WITH numbers AS (
    SELECT
        summary_metrics.group_id,
        summary_metrics.protocol,
        summary_metrics.metric AS what,
        CASE
            WHEN ISFINITE(summary_metrics.value) THEN NULL
            WHEN summary_metrics.value IS NOT NULL THEN CAST(summary_metrics.value AS VARCHAR)
            WHEN summary_metrics.kind = 'int' THEN 'an integer past every float'
        END AS value
    FROM summary_metrics
    UNION ALL
    SELECT
        by_name.group_id,
        by_name.protocol,
        by_name.metric || ' of ' || by_name.dataset_group AS what,
        CASE WHEN NOT ISFINITE(by_name.value) THEN CAST(by_name.value AS VARCHAR) END AS value
    FROM (
        SELECT
            summary_datasets.group_id,
            summary_datasets.protocol,
            summary_datasets.dataset_group,
            summary_datasets.average,
            summary_datasets.minmax_sum,
            summary_datasets.minmax_count,
            summary_datasets.minmax_average,
            summary_datasets.z_sum,
            summary_datasets.z_count,
            summary_datasets.z_average
        FROM summary_datasets
    )
    UNPIVOT (
        value FOR metric IN (average, minmax_sum, minmax_count, minmax_average, z_sum, z_count, z_average)
    ) AS by_name
)

SELECT
    numbers.group_id,
    numbers.protocol,
    numbers.what,
    numbers.value
FROM numbers
WHERE numbers.value IS NOT NULL
ORDER BY ALL
