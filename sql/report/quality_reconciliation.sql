-- quality_reconciliation: every published number of a group beside the same number recomputed from its samples.
-- title: Published against recomputed
-- grain: experiment, protocol, split, collection, backbone, baseline, metric
-- chunk: none
-- reason: why_not
-- column experiment: How the system was run.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column metric: weighted_average, average or z_score.
-- column published: The number as published.
-- column recomputed: The same from the samples' scores.
-- column difference: recomputed - published.
-- column why_not: Why there is nothing to compare.
WITH numbers AS (
    SELECT
        results.experiment,
        results.protocol,
        results.split,
        results.collection,
        results.backbone,
        results.baseline,
        CAST('weighted_average' AS VARCHAR) AS metric,
        results.weighted_average AS published,
        results.recomputed_weighted_average AS recomputed,
        results.every_score_published
    FROM results
    WHERE results.protocol IS NOT NULL
    UNION ALL
    SELECT
        results.experiment,
        results.protocol,
        results.split,
        results.collection,
        results.backbone,
        results.baseline,
        CAST('average' AS VARCHAR) AS metric,
        results.average AS published,
        results.recomputed_average AS recomputed,
        results.every_score_published
    FROM results
    WHERE results.protocol IS NOT NULL
    UNION ALL
    SELECT
        results.experiment,
        results.protocol,
        results.split,
        results.collection,
        results.backbone,
        results.baseline,
        CAST('z_score' AS VARCHAR) AS metric,
        results.z_score AS published,
        results.recomputed_z_score AS recomputed,
        results.every_score_published
    FROM results
    WHERE results.protocol IS NOT NULL
)

SELECT
    numbers.experiment,
    numbers.protocol,
    numbers.split,
    numbers.collection,
    numbers.backbone,
    numbers.baseline,
    numbers.metric,
    numbers.published,
    numbers.recomputed,
    numbers.recomputed - numbers.published AS difference,
    CAST(
        CASE
            WHEN numbers.published IS NULL THEN 'the number is not published'
            WHEN numbers.recomputed IS NOT NULL THEN NULL
            WHEN numbers.every_score_published THEN 'the constants of the protocol are not published'
            ELSE 'not every score is published'
        END AS VARCHAR
    ) AS why_not
FROM numbers
ORDER BY
    ABS(numbers.recomputed - numbers.published) DESC NULLS LAST,
    numbers.experiment,
    numbers.protocol,
    numbers.split,
    numbers.collection,
    numbers.backbone,
    numbers.baseline,
    numbers.metric
