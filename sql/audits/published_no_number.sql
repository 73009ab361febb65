-- published_no_number: numbers of a summary that are published as text, boolean, list or object; nothing is ranked by
--     them.
-- grain: group, protocol, metric
-- severity: warning
-- message: the published {metric} is {what}, not a number: it counts as not published (protocol {protocol})
SELECT
    summary_metrics.group_id,
    summary_metrics.protocol,
    summary_metrics.metric,
    CASE summary_metrics.kind
        WHEN 'text' THEN CONCAT('the text "', summary_metrics.value_text, '"')
        WHEN 'bool' THEN summary_metrics.value_text
        WHEN 'list' THEN 'a list'
        ELSE 'an object'
    END AS what
FROM summary_metrics
WHERE
    summary_metrics.kind IN ('text', 'bool', 'list', 'object')
    AND (
        summary_metrics.metric IN ('average', 'weighted_average', 'z_score')
        OR (summary_metrics.kind = 'text' AND TRY_CAST(summary_metrics.value_text AS DOUBLE) IS NOT NULL)
    )
ORDER BY ALL
