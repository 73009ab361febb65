scored AS (
    SELECT
        sample_results.experiment,
        sample_results.protocol,
        sample_results.split,
        sample_results.collection,
        sample_results.backbone,
        sample_results.baseline,
        sample_results.group_id,
        sample_results.dataset_group,
        sample_results.dataset,
        sample_results.test_idx,
        sample_results.score,
        sample_results.minmax_score,
        sample_results.out_of_scale,
        sample_results.group_id IN (
            SELECT coverage.group_id FROM coverage WHERE coverage.validity = 'invalid'
        ) AS is_invalid,
        sample_results.group_id IN (
            SELECT coverage.group_id FROM coverage WHERE coverage.validity IS NULL AND coverage.group_id IS NOT NULL
        ) AS is_unknown
    FROM sample_results
    WHERE
        sample_results.origin = 'published'
        AND sample_results.dataset IS NOT NULL
        AND ABS(sample_results.score) <= 1e150
),

paired AS (
    SELECT
        one.experiment,
        one.protocol,
        one.split,
        one.collection,
        one.backbone,
        one.baseline,
        other.backbone AS other_backbone,
        other.baseline AS other_baseline,
        one.is_invalid OR other.is_invalid AS is_invalid,
        one.is_unknown OR other.is_unknown AS is_unknown,
        one.dataset_group,
        one.dataset,
        one.test_idx,
        one.score,
        other.score AS other_score,
        CAST(COALESCE(one.out_of_scale, false) AS INTEGER)
        + CAST(COALESCE(other.out_of_scale, false) AS INTEGER) AS n_out_of_scale,
        one.score - other.score AS difference,
        one.minmax_score - other.minmax_score AS minmax_difference
    FROM scored AS one
    INNER JOIN scored AS other
        ON
            one.experiment = other.experiment
            AND one.protocol = other.protocol
            AND one.split = other.split
            AND one.collection = other.collection
            AND one.dataset = other.dataset
            AND one.test_idx = other.test_idx
            AND one.group_id < other.group_id
)
