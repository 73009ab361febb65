-- comparisons: every published number that the scores can be held against, beside the number that they give. What the
--     audits of reconciliation read. Two numbers are the same where they differ by at most 1e-9, or by 1e-9 of the
--     larger one where that is above 1.
-- grain: check, group, protocol, published number (place) or score (dataset_group, position)
WITH normalized AS (
    SELECT
        scores.group_id,
        scores.protocol,
        scores.dataset_group,
        scores.score_counted,
        ABS(scores.score_counted) <= 1.7976931348623157e308 AS is_finite,
        constants.dataset_group IS NOT NULL AS has_constants,
        CASE
            WHEN constants.max = constants.min THEN 0
            ELSE (scores.score_counted - constants.min) / (constants.max - constants.min)
        END AS minmax_score,
        CASE
            WHEN constants.sigma <= 1e-6 THEN 0
            ELSE (scores.score_counted - constants.mu) / constants.sigma
        END AS z
    FROM sample_scores AS scores
    -- The constants belong to the protocol metrics; those of other protocols are not published.
    LEFT JOIN normalization AS constants
        ON
            scores.split = constants.split
            AND scores.collection = constants.collection
            AND scores.dataset_group = constants.dataset_group
            AND scores.protocol = 'metrics'
    WHERE scores.origin = 'published'
),

by_dataset AS (
    SELECT
        group_id,
        protocol,
        dataset_group,
        COUNT(*) AS n,
        BOOL_AND(COALESCE(is_finite, FALSE)) AS all_finite,
        BOOL_AND(has_constants) AS has_constants,
        SUM(score_counted) AS total,
        SUM(minmax_score) AS minmax_sum,
        SUM(z) AS z_sum
    FROM normalized
    GROUP BY
        group_id,
        protocol,
        dataset_group
),

-- A dataset that the summary has numbers of and no scores for leaves the numbers over all datasets open.
published_datasets AS (
    SELECT
        COALESCE(published.group_id, by_dataset.group_id) AS group_id,
        COALESCE(published.protocol, by_dataset.protocol) AS protocol,
        COALESCE(published.dataset_group, by_dataset.dataset_group) AS dataset_group,
        published.source_file,
        published.average,
        published.minmax_sum,
        published.minmax_count,
        published.minmax_average,
        published.z_sum,
        published.z_count,
        published.z_average,
        by_dataset.n,
        by_dataset.total,
        by_dataset.minmax_sum AS scores_minmax_sum,
        by_dataset.z_sum AS scores_z_sum,
        CASE
            WHEN by_dataset.n IS NULL THEN 'no scores are published (details)'
            WHEN NOT by_dataset.all_finite THEN 'a score is not finite'
        END AS average_open,
        CASE
            WHEN by_dataset.n IS NULL THEN 'no scores are published (details)'
            WHEN by_dataset.protocol <> 'metrics' THEN 'the constants of this protocol are not published'
            WHEN NOT by_dataset.has_constants THEN 'the constants of a dataset are unknown'
            WHEN NOT by_dataset.all_finite THEN 'a score is not finite'
        END AS normalized_open
    FROM summary_datasets AS published
    FULL JOIN by_dataset
        ON
            published.group_id = by_dataset.group_id
            AND published.protocol = by_dataset.protocol
            AND published.dataset_group = by_dataset.dataset_group
),

by_group AS (
    SELECT
        group_id,
        protocol,
        -- Which reason is named where datasets have different ones does not matter; the same one each time does.
        MIN(normalized_open) AS normalized_open,
        AVG(scores_minmax_sum / n) AS average,
        SUM(scores_minmax_sum) / SUM(n) AS weighted_average,
        SUM(scores_z_sum) / SUM(n) AS z_score
    FROM published_datasets
    GROUP BY
        group_id,
        protocol
),

of_summary AS (
    SELECT
        published.group_id,
        published.protocol,
        published.source_file,
        published.metric,
        published.value AS published,
        CASE published.metric
            WHEN 'average' THEN by_group.average
            WHEN 'weighted_average' THEN by_group.weighted_average
            WHEN 'z_score' THEN by_group.z_score
        END AS recomputed,
        CASE
            WHEN by_group.group_id IS NULL THEN 'no scores are published (details)'
            ELSE by_group.normalized_open
        END AS open_reason
    FROM summary_metrics AS published
    LEFT JOIN by_group
        ON published.group_id = by_group.group_id AND published.protocol = by_group.protocol
    WHERE
        published.metric IN ('average', 'weighted_average', 'z_score')
        AND published.kind IN ('int', 'float')
),

-- The score of a dataset with one main metric is that metric; the publisher counts null and text as 0.
of_scores AS (
    SELECT
        scores.group_id,
        scores.protocol,
        scores.dataset_group,
        scores.dataset,
        scores.test_idx,
        scores.position,
        published_datasets.source_file,
        datasets_known.main_metric,
        scores.score_counted AS published,
        CASE
            WHEN metrics.kind = 'null' OR texts.kind = 'text' THEN 0
            ELSE metrics.value
        END AS recomputed,
        CASE
            WHEN scores.dataset IS NULL THEN 'it is not known whose score it is'
            WHEN metrics.kind IS NULL AND texts.kind IS NULL THEN 'the main metric is not in the record'
            WHEN texts.kind IN ('list', 'object') THEN 'the main metric is a list or an object'
            WHEN metrics.kind <> 'null' AND metrics.value IS NULL THEN 'the main metric does not fit a number'
        END AS open_reason
    FROM sample_scores AS scores
    -- Every dataset of a dataset group has the same main metric.
    INNER JOIN (
        SELECT
            dataset_group,
            MIN(main_metric) AS main_metric
        FROM datasets
        WHERE main_metric IS NOT NULL
        GROUP BY dataset_group
    ) AS datasets_known
        ON scores.dataset_group = datasets_known.dataset_group
    LEFT JOIN published_datasets
        ON
            scores.group_id = published_datasets.group_id
            AND scores.protocol = published_datasets.protocol
            AND scores.dataset_group = published_datasets.dataset_group
    LEFT JOIN sample_metrics AS metrics
        ON
            scores.group_id = metrics.group_id
            AND scores.protocol = metrics.protocol
            AND scores.dataset = metrics.dataset
            AND scores.test_idx = metrics.test_idx
            AND datasets_known.main_metric = metrics.metric
    LEFT JOIN sample_annotations AS texts
        ON
            scores.group_id = texts.group_id
            AND scores.protocol = texts.protocol
            AND scores.dataset = texts.dataset
            AND scores.test_idx = texts.test_idx
            AND datasets_known.main_metric = texts.name
    WHERE
        scores.origin = 'published'
        AND scores.protocol = 'metrics'
),

of_datasets AS (
    SELECT
        datasets.group_id,
        datasets.protocol,
        datasets.source_file,
        datasets.dataset_group,
        numbers.check_name,
        numbers.place,
        numbers.published,
        numbers.recomputed,
        CASE
            WHEN numbers.check_name = 'reconcile_average' THEN datasets.average_open
            ELSE datasets.normalized_open
        END AS open_reason
    FROM published_datasets AS datasets
    CROSS JOIN LATERAL (
        VALUES
        ('reconcile_average', 'average', datasets.average, datasets.total / datasets.n),
        (
            'reconcile_minmax', 'minmax_normalized_average, sum',
            datasets.minmax_sum, datasets.scores_minmax_sum
        ),
        ('reconcile_minmax', 'minmax_normalized_average, count', datasets.minmax_count, datasets.n),
        (
            'reconcile_minmax', 'minmax_normalized_average, mean',
            datasets.minmax_average, datasets.scores_minmax_sum / datasets.n
        ),
        ('reconcile_z', 'z_normalized_average, sum', datasets.z_sum, datasets.scores_z_sum),
        ('reconcile_z', 'z_normalized_average, count', datasets.z_count, datasets.n),
        ('reconcile_z', 'z_normalized_average, mean', datasets.z_average, datasets.scores_z_sum / datasets.n)
    ) AS numbers (check_name, place, published, recomputed)
    WHERE numbers.published IS NOT NULL
),

compared AS (
    SELECT
        check_name,
        group_id,
        protocol,
        source_file,
        dataset_group,
        NULL AS dataset,
        NULL AS test_idx,
        NULL AS position,
        place,
        published,
        recomputed,
        open_reason
    FROM of_datasets
    UNION ALL
    SELECT
        'reconcile_summary' AS check_name,
        group_id,
        protocol,
        source_file,
        NULL AS dataset_group,
        NULL AS dataset,
        NULL AS test_idx,
        NULL AS position,
        'summary.' || metric AS place,
        published,
        recomputed,
        open_reason
    FROM of_summary
    UNION ALL
    SELECT
        'reconcile_scores' AS check_name,
        group_id,
        protocol,
        source_file,
        dataset_group,
        dataset,
        test_idx,
        position,
        main_metric AS place,
        published,
        recomputed,
        open_reason
    FROM of_scores
)

SELECT
    CAST(compared.check_name AS VARCHAR) AS check_name,
    compared.group_id,
    compared.protocol,
    result_groups.relative_dir || '/' || COALESCE(compared.source_file, 'summary.json') AS file,
    compared.dataset_group,
    CAST(compared.dataset AS VARCHAR) AS dataset,
    CAST(compared.test_idx AS BIGINT) AS test_idx,
    CAST(compared.position AS BIGINT) AS position,
    CAST(compared.place AS VARCHAR) AS place,
    CAST(compared.published AS DOUBLE) AS published,
    CAST(compared.recomputed AS DOUBLE) AS recomputed,
    compared.open_reason,
    CAST(
        CASE
            WHEN compared.open_reason IS NOT NULL THEN 'cannot be checked'
            -- Equal infinities and NaNs are the same; a difference with one of them is not small.
            WHEN compared.published = compared.recomputed THEN 'passed'
            WHEN
                ABS(compared.published) <= 1.7976931348623157e308
                AND ABS(compared.recomputed) <= 1.7976931348623157e308
                AND ABS(compared.published - compared.recomputed)
                <= 1e-9 * GREATEST(1, ABS(compared.published), ABS(compared.recomputed))
                THEN 'passed'
            ELSE 'failed'
        END AS VARCHAR
    ) AS outcome
FROM compared
INNER JOIN result_groups
    ON compared.group_id = result_groups.group_id
