-- published_mean: published means of min-max scores outside of 0 to 1, in groups that are not known to be invalid. Scores
--     beyond the constants of the normalization can take a mean there, and so can a run whose answers are error texts.
-- grain: group, protocol, metric
-- severity: warning
-- message: the published {metric} is {value}, and a mean of min-max scores lies between 0 and 1 (protocol {protocol})
SELECT
    summary_metrics.group_id,
    summary_metrics.protocol,
    summary_metrics.metric,
    summary_metrics.value AS value
FROM summary_metrics
INNER JOIN result_groups
    ON summary_metrics.group_id = result_groups.group_id
WHERE
    summary_metrics.metric IN ('average', 'weighted_average')
    AND ISFINITE(summary_metrics.value)
    AND (summary_metrics.value < 0 OR summary_metrics.value > 1)
    AND result_groups.validity IS DISTINCT FROM 'invalid'
ORDER BY ALL
