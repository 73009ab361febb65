-- not_finite: metrics and scores of samples that are NaN or infinite; every mean leaves them out.
-- grain: group, protocol, what
-- severity: info
-- message: {n_values} values of {what} are NaN or infinite (protocol {protocol})
SELECT
    sample_metrics.group_id,
    sample_metrics.protocol,
    'the metric ' || sample_metrics.metric AS what,
    COUNT(*) AS n_values
FROM sample_metrics
WHERE NOT ISFINITE(sample_metrics.value)
GROUP BY
    sample_metrics.group_id,
    sample_metrics.protocol,
    sample_metrics.metric
UNION ALL
SELECT
    sample_scores.group_id,
    sample_scores.protocol,
    'the score of ' || sample_scores.dataset_group AS what,
    COUNT(*) AS n_values
FROM sample_scores
WHERE NOT ISFINITE(sample_scores.score_counted)
GROUP BY
    sample_scores.group_id,
    sample_scores.protocol,
    sample_scores.dataset_group
ORDER BY ALL
