-- dataset_results: each dataset of a group: the publisher's means, the same recomputed from the samples, and the mean
--     of the scores that are there with its standard error. Normalised numbers compare inside one split and
--     collection.
-- grain: group, protocol, dataset_group
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column dataset_group: The dataset with Locomo-0..9 folded into Locomo.
-- column n_samples: Number of evaluated samples; NULL where the group has no evaluations under the protocol.
-- column n_scores: Number of scores, published or derived.
-- column n_not_finite: How many of the scores are NaN or infinite; every mean leaves them out.
-- column n_failed: Number of scores whose generation or judge call failed; NULL where that is known of none.
-- column n_out_of_scale: Number of scores outside of the dataset's documented range; NULL where that is known of none,
--     as where the range is unknown. Numbers over samples take them as they are; whether a published one does is not
--     known.
-- column origin: published: the scores are those of summary.details; derived: the dataset's main metric, as there are
--     no details; NULL where there is no score.
-- column every_score_published: Whether the score of every evaluated sample is there, as published and finite. Only
--     then is anything recomputed.
-- column n: Number of scores that mean and standard_error are over: finite as published, without nulls and failed
--     judge calls.
-- column mean: Mean of these n scores, in the dataset's own unit.
-- column standard_error: Their standard deviation (ddof 1) divided by the root of n; NULL where n < 2.
-- column average: The published mean score.
-- column minmax_average: The published mean of the min-max scores.
-- column z_average: The published mean of z.
-- column recomputed_average: Mean of score_counted; NULL unless every_score_published.
-- column recomputed_minmax_sum: Sum of minmax_score; NULL unless every_score_published and the constants are known.
-- column recomputed_minmax_average: Mean of minmax_score; NULL where its sum is.
-- column recomputed_z_sum: Sum of z; NULL unless every_score_published and the constants are known.
-- column recomputed_z_average: Mean of z; NULL where its sum is.
-- column min: The publisher's constant, the smallest score over its systems; NULL where unknown, as for other
--     protocols than metrics.
-- column max: The publisher's constant, the largest score.
-- column mu: The publisher's constant, the mean score.
-- column sigma: The publisher's constant, the standard deviation of the scores.
-- column validity: Of the whole group: valid, suspect or invalid; NULL (unknown) where there are no responses to judge
--     by. The numbers of an invalid group mean nothing.
WITH sources AS (
    SELECT
        scores.experiment,
        scores.backbone,
        scores.split,
        scores.collection,
        scores.baseline,
        scores.group_id,
        scores.protocol,
        scores.dataset_group,
        CAST(NULL AS BIGINT) AS evaluated_test_idx,
        scores.score,
        scores.score_counted,
        scores.minmax_score,
        scores.z,
        scores.is_finite,
        scores.origin,
        scores.failed,
        scores.out_of_scale,
        CAST(NULL AS DOUBLE) AS average,
        CAST(NULL AS DOUBLE) AS minmax_average,
        CAST(NULL AS DOUBLE) AS z_average
    FROM normalized_scores AS scores
    UNION ALL
    SELECT
        evaluations.experiment,
        evaluations.backbone,
        evaluations.split,
        evaluations.collection,
        evaluations.baseline,
        evaluations.group_id,
        evaluations.protocol,
        COALESCE(datasets.dataset_group, evaluations.dataset) AS dataset_group,
        evaluations.test_idx AS evaluated_test_idx,
        CAST(NULL AS DOUBLE) AS score,
        CAST(NULL AS DOUBLE) AS score_counted,
        CAST(NULL AS DOUBLE) AS minmax_score,
        CAST(NULL AS DOUBLE) AS z,
        CAST(NULL AS BOOLEAN) AS is_finite,
        CAST(NULL AS VARCHAR) AS origin,
        CAST(NULL AS BOOLEAN) AS failed,
        CAST(NULL AS BOOLEAN) AS out_of_scale,
        CAST(NULL AS DOUBLE) AS average,
        CAST(NULL AS DOUBLE) AS minmax_average,
        CAST(NULL AS DOUBLE) AS z_average
    FROM evaluations
    LEFT JOIN datasets
        ON evaluations.dataset = datasets.dataset
    UNION ALL
    SELECT
        published.experiment,
        published.backbone,
        published.split,
        published.collection,
        published.baseline,
        published.group_id,
        published.protocol,
        published.dataset_group,
        CAST(NULL AS BIGINT) AS evaluated_test_idx,
        CAST(NULL AS DOUBLE) AS score,
        CAST(NULL AS DOUBLE) AS score_counted,
        CAST(NULL AS DOUBLE) AS minmax_score,
        CAST(NULL AS DOUBLE) AS z,
        CAST(NULL AS BOOLEAN) AS is_finite,
        CAST(NULL AS VARCHAR) AS origin,
        CAST(NULL AS BOOLEAN) AS failed,
        CAST(NULL AS BOOLEAN) AS out_of_scale,
        published.average,
        published.minmax_average,
        published.z_average
    FROM summary_datasets AS published
),

by_dataset AS (
    SELECT
        sources.experiment,
        sources.backbone,
        sources.split,
        sources.collection,
        sources.baseline,
        sources.group_id,
        sources.protocol,
        sources.dataset_group,
        COUNT(sources.evaluated_test_idx) AS n_samples,
        SUM(COUNT(sources.evaluated_test_idx)) OVER (
            PARTITION BY
                sources.experiment,
                sources.backbone,
                sources.split,
                sources.collection,
                sources.baseline,
                sources.group_id,
                sources.protocol
        ) AS n_samples_of_group,
        COUNT(sources.origin) AS n_scores,
        COUNT(*) FILTER (WHERE NOT sources.is_finite) AS n_not_finite,
        COUNT(*) FILTER (WHERE sources.is_finite AND sources.origin = 'published') AS n_published,
        COUNT(sources.minmax_score) AS n_normalized,
        COUNT(sources.failed) AS n_judged,
        COUNT(*) FILTER (WHERE sources.failed) AS n_failed,
        COUNT(sources.out_of_scale) AS n_of_known_scale,
        COUNT(*) FILTER (WHERE sources.out_of_scale) AS n_out_of_scale,
        MIN(sources.origin) AS origin,
        COUNT(sources.score) FILTER (WHERE sources.is_finite) AS n,
        AVG(sources.score) FILTER (WHERE sources.is_finite) AS mean,
        -- Squares of larger numbers overflow, which DuckDB 1.2 reports as an error.
        STDDEV_SAMP(sources.score) FILTER (WHERE ABS(sources.score) <= 1e150) AS deviation,
        COUNT(*) FILTER (WHERE ABS(sources.score) <= 1e150) AS n_deviation,
        SUM(sources.score_counted) FILTER (WHERE sources.is_finite) AS score_sum,
        SUM(sources.minmax_score) AS minmax_sum,
        SUM(sources.z) AS z_sum,
        -- Of the published numbers there is one row at most.
        MAX(sources.average) AS average,
        MAX(sources.minmax_average) AS minmax_average,
        MAX(sources.z_average) AS z_average
    FROM sources
    GROUP BY
        sources.experiment,
        sources.backbone,
        sources.split,
        sources.collection,
        sources.baseline,
        sources.group_id,
        sources.protocol,
        sources.dataset_group
),

checked AS (
    SELECT
        by_dataset.experiment,
        by_dataset.backbone,
        by_dataset.split,
        by_dataset.collection,
        by_dataset.baseline,
        by_dataset.group_id,
        by_dataset.protocol,
        by_dataset.dataset_group,
        CASE WHEN by_dataset.n_samples_of_group > 0 THEN by_dataset.n_samples END AS n_samples,
        by_dataset.n_scores,
        by_dataset.n_not_finite,
        CASE WHEN by_dataset.n_judged > 0 THEN by_dataset.n_failed END AS n_failed,
        CASE WHEN by_dataset.n_of_known_scale > 0 THEN by_dataset.n_out_of_scale END AS n_out_of_scale,
        by_dataset.origin,
        (
            by_dataset.n_scores > 0
            AND by_dataset.n_scores = by_dataset.n_published
            -- Without evaluations, how many samples there are is known from the scores alone.
            AND (
                by_dataset.n_scores = by_dataset.n_samples
                OR (by_dataset.n_samples_of_group = 0 AND COALESCE(result_groups.n_evaluations, 1) > 0)
            )
        ) AS every_score_published,
        by_dataset.n_scores = by_dataset.n_normalized AS is_normalized,
        by_dataset.n,
        by_dataset.mean,
        CASE
            WHEN by_dataset.n >= 2 AND by_dataset.n = by_dataset.n_deviation
                THEN by_dataset.deviation / SQRT(by_dataset.n)
        END AS standard_error,
        by_dataset.average,
        by_dataset.minmax_average,
        by_dataset.z_average,
        by_dataset.score_sum,
        by_dataset.minmax_sum,
        by_dataset.z_sum,
        result_groups.validity
    FROM by_dataset
    INNER JOIN result_groups
        ON by_dataset.group_id = result_groups.group_id
)

SELECT
    checked.experiment,
    checked.backbone,
    checked.split,
    checked.collection,
    checked.baseline,
    checked.group_id,
    checked.protocol,
    checked.dataset_group,
    CAST(checked.n_samples AS BIGINT) AS n_samples,
    CAST(checked.n_scores AS BIGINT) AS n_scores,
    CAST(checked.n_not_finite AS BIGINT) AS n_not_finite,
    CAST(checked.n_failed AS BIGINT) AS n_failed,
    CAST(checked.n_out_of_scale AS BIGINT) AS n_out_of_scale,
    checked.origin,
    checked.every_score_published,
    CAST(checked.n AS BIGINT) AS n,
    CAST(checked.mean AS DOUBLE) AS mean,
    CAST(checked.standard_error AS DOUBLE) AS standard_error,
    checked.average,
    checked.minmax_average,
    checked.z_average,
    CAST(CASE WHEN checked.every_score_published THEN checked.score_sum / checked.n_scores END AS DOUBLE)
        AS recomputed_average,
    CAST(CASE WHEN checked.every_score_published AND checked.is_normalized THEN checked.minmax_sum END AS DOUBLE)
        AS recomputed_minmax_sum,
    CAST(
        CASE
            WHEN checked.every_score_published AND checked.is_normalized THEN checked.minmax_sum / checked.n_scores
        END AS DOUBLE
    ) AS recomputed_minmax_average,
    CAST(CASE WHEN checked.every_score_published AND checked.is_normalized THEN checked.z_sum END AS DOUBLE)
        AS recomputed_z_sum,
    CAST(
        CASE WHEN checked.every_score_published AND checked.is_normalized THEN checked.z_sum / checked.n_scores END
        AS DOUBLE
    ) AS recomputed_z_average,
    constants.min,
    constants.max,
    constants.mu,
    constants.sigma,
    checked.validity
FROM checked
LEFT JOIN normalization AS constants
    ON
        checked.split = constants.split
        AND checked.collection = constants.collection
        AND checked.dataset_group = constants.dataset_group
        AND checked.protocol = 'metrics'
