-- reconcile_scores: published scores that are not their sample's main metric, in datasets that have one.
-- grain: group, protocol, dataset_group
-- severity: error
-- message: {n_failed} of {n_compared} published scores of {dataset} differ from the metric {metric}, as in {examples}
SELECT
    comparisons.group_id,
    comparisons.file,
    comparisons.dataset_group AS dataset,
    COUNT(*) FILTER (WHERE comparisons.outcome = 'failed') AS n_failed,
    COUNT(*) AS n_compared,
    comparisons.place AS metric,
    ARRAY_TO_STRING(
        LIST_SLICE(
            LIST(
                comparisons.dataset || ' ' || comparisons.test_idx || ' (published ' || comparisons.published
                || ', metric ' || comparisons.recomputed || ')'
                ORDER BY comparisons.position
            ) FILTER (WHERE comparisons.outcome = 'failed'),
            1,
            20
        ),
        ', '
    ) AS examples
FROM comparisons
WHERE
    comparisons.check_name = 'reconcile_scores'
    AND comparisons.outcome <> 'cannot be checked'
GROUP BY
    comparisons.group_id,
    comparisons.file,
    comparisons.dataset_group,
    comparisons.place
HAVING COUNT(*) FILTER (WHERE comparisons.outcome = 'failed') > 0
ORDER BY ALL
