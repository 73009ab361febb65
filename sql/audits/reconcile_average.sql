-- reconcile_average: a published mean of a dataset that its published scores do not give.
-- grain: group, protocol, dataset_group
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
    comparisons.check_name = 'reconcile_average'
    AND comparisons.outcome = 'failed'
ORDER BY ALL
