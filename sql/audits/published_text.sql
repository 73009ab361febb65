-- published_text: numbers of a summary that are published as text; they stay text, and nothing is ranked by them.
-- grain: group, protocol, metric
-- severity: warning
-- message: the published {metric} is the text "{text}", not a number: it counts as not published (protocol {protocol})
SELECT
    summary_metrics.group_id,
    summary_metrics.protocol,
    summary_metrics.metric,
    summary_metrics.value_text AS text
FROM summary_metrics
WHERE
    summary_metrics.kind = 'text'
    AND (
        summary_metrics.metric IN ('average', 'weighted_average', 'z_score')
        OR TRY_CAST(summary_metrics.value_text AS DOUBLE) IS NOT NULL
    )
ORDER BY ALL
