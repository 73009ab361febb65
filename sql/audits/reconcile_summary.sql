-- reconcile_summary: a published average, weighted_average or z_score of a group that its scores and constants do not give.
-- grain: group, protocol, place
-- severity: error
-- message: {place} is published as {published}; the published scores give {recomputed} (protocol {protocol})
SELECT
    comparisons.group_id,
    comparisons.file,
    comparisons.dataset_group AS dataset,
    comparisons.place AS place,
    comparisons.protocol,
    comparisons.published,
    comparisons.recomputed
FROM comparisons
WHERE
    comparisons.check_name = 'reconcile_summary'
    AND comparisons.outcome = 'failed'
ORDER BY ALL
