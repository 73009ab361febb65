-- unknown_constants: scores whose split, collection and dataset have no published constants, so that they have neither a
--     min-max score nor a z.
-- grain: split, collection, dataset_group
-- severity: warning
-- message: no constants are known for {dataset} in {split}/{collection}: the {n_scores} scores of {n_groups} groups have
--     neither a min-max score nor a z
SELECT
    scores.split,
    scores.collection,
    scores.dataset_group AS dataset,
    COUNT(*) AS n_scores,
    COUNT(DISTINCT scores.group_id) AS n_groups
FROM sample_scores AS scores
ANTI JOIN normalization AS constants
    ON
        scores.split = constants.split
        AND scores.collection = constants.collection
        AND scores.dataset_group = constants.dataset_group
-- Other protocols have constants of their own, which are not published.
WHERE scores.protocol = 'metrics'
GROUP BY
    scores.split,
    scores.collection,
    scores.dataset_group
ORDER BY ALL
