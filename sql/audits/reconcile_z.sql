-- reconcile_z: a published z sum, count or mean of a dataset that its scores and constants do not give.
-- grain: group, protocol, dataset_group, place
-- severity: error
-- message: {place} is published as {published}; the published scores give {recomputed} (protocol {protocol})
SELECT
    comparisons.group_id,
    comparisons.file,
    comparisons.dataset_group AS dataset,
    comparisons.place || ' of ' || comparisons.dataset_group AS place,
    comparisons.protocol,
    comparisons.published,
    comparisons.recomputed
FROM comparisons
WHERE
    comparisons.check_name = 'reconcile_z'
    AND comparisons.outcome = 'failed'
ORDER BY ALL
