-- results: one row for each result group and protocol, the published numbers beside the same recomputed from the
--     samples, and what there is to trust them by. A group that was not scored has one row, without numbers.
-- grain: group, protocol
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge; NULL where the group was not scored. Numbers of
--     different protocols do not compare.
-- column average: Published: the unweighted mean over datasets of the mean min-max score; NULL where not published.
-- column weighted_average: Published: the mean min-max score over all samples; NULL where not published.
-- column z_score: Published: the mean z over all samples; NULL where not published.
-- column recomputed_average: average from the samples' scores; NULL unless every_score_published and the constants
--     are known.
-- column recomputed_weighted_average: weighted_average from the samples' scores; NULL where recomputed_average is.
-- column recomputed_z_score: z_score from the samples' scores; NULL where recomputed_average is.
-- column n_samples: Number of samples evaluated under the protocol; NULL where there are no evaluations.
-- column n_scores: Number of scores under the protocol, published or derived.
-- column n_not_finite: How many of the scores are NaN or infinite; every mean leaves them out.
-- column every_score_published: Whether the score of every evaluated sample is there, as published and finite.
-- column n_predictions: Number of responses; NULL where there is no predict.json.
-- column n_failed: Number of responses that failed: the runner's error text, empty or null.
-- column failed_share: n_failed / n_predictions.
-- column n_failed_scores: Number of scores whose generation or judge call failed; NULL where that is known of none.
-- column n_out_of_scale: Number of scores outside of their dataset's documented range; NULL where that is known of
--     none. Numbers over samples take them as they are; whether a published one does is not known.
-- column n_means_out_of_range: How many of average and weighted_average lie outside of 0 to 1, where no mean of min-max
--     scores can be; see published_means. Nothing is ranked by such a number.
-- column status: complete, partial, stale (the last good version is shown) or quarantined (there is no good version).
-- column validity: valid, suspect or invalid; NULL (unknown) where there are no responses to judge by. The numbers of
--     an invalid group mean nothing.
-- column validity_reasons: Why the group is suspect or invalid.
-- column first_revision: The source's revision in which this content first appeared.
-- column relative_dir: The group's folder inside the archive.
WITH published AS (
    SELECT
        summary_metrics.group_id,
        summary_metrics.protocol,
        MAX(summary_metrics.value) FILTER (WHERE summary_metrics.metric = 'average') AS average,
        MAX(summary_metrics.value) FILTER (WHERE summary_metrics.metric = 'weighted_average') AS weighted_average,
        MAX(summary_metrics.value) FILTER (WHERE summary_metrics.metric = 'z_score') AS z_score
    FROM summary_metrics
    GROUP BY
        summary_metrics.group_id,
        summary_metrics.protocol
),

out_of_range AS (
    SELECT
        published_means.group_id,
        published_means.protocol,
        COUNT(*) FILTER (WHERE published_means.is_out_of_range) AS n_means
    FROM published_means
    GROUP BY
        published_means.group_id,
        published_means.protocol
),

from_samples AS (
    SELECT
        per_dataset.experiment,
        per_dataset.backbone,
        per_dataset.split,
        per_dataset.collection,
        per_dataset.baseline,
        per_dataset.group_id,
        per_dataset.protocol,
        COUNT(*) AS n_datasets,
        COUNT(per_dataset.recomputed_minmax_sum) AS n_recomputed,
        AVG(per_dataset.recomputed_minmax_average) AS average,
        SUM(per_dataset.recomputed_minmax_sum) / NULLIF(SUM(per_dataset.n_scores), 0) AS weighted_average,
        SUM(per_dataset.recomputed_z_sum) / NULLIF(SUM(per_dataset.n_scores), 0) AS z_score,
        SUM(per_dataset.n_samples) AS n_samples,
        SUM(per_dataset.n_scores) AS n_scores,
        SUM(per_dataset.n_not_finite) AS n_not_finite,
        SUM(per_dataset.n_failed) AS n_failed_scores,
        SUM(per_dataset.n_out_of_scale) AS n_out_of_scale,
        MIN(CASE WHEN per_dataset.every_score_published THEN 1 ELSE 0 END) = 1 AS every_score_published
    FROM dataset_results AS per_dataset
    GROUP BY
        per_dataset.experiment,
        per_dataset.backbone,
        per_dataset.split,
        per_dataset.collection,
        per_dataset.baseline,
        per_dataset.group_id,
        per_dataset.protocol
)

SELECT
    group_protocols.experiment,
    group_protocols.backbone,
    group_protocols.split,
    group_protocols.collection,
    group_protocols.baseline,
    group_protocols.group_id,
    group_protocols.protocol,
    published.average,
    published.weighted_average,
    published.z_score,
    CAST(CASE WHEN from_samples.n_recomputed = from_samples.n_datasets THEN from_samples.average END AS DOUBLE)
        AS recomputed_average,
    CAST(CASE WHEN from_samples.n_recomputed = from_samples.n_datasets THEN from_samples.weighted_average END AS DOUBLE)
        AS recomputed_weighted_average,
    CAST(CASE WHEN from_samples.n_recomputed = from_samples.n_datasets THEN from_samples.z_score END AS DOUBLE)
        AS recomputed_z_score,
    CAST(from_samples.n_samples AS BIGINT) AS n_samples,
    CAST(COALESCE(from_samples.n_scores, 0) AS BIGINT) AS n_scores,
    CAST(COALESCE(from_samples.n_not_finite, 0) AS BIGINT) AS n_not_finite,
    COALESCE(from_samples.every_score_published, FALSE) AS every_score_published,
    group_protocols.n_predictions,
    group_protocols.n_failed,
    CAST(
        CASE
            WHEN group_protocols.n_predictions > 0
                THEN CAST(group_protocols.n_failed AS DOUBLE) / group_protocols.n_predictions
        END AS DOUBLE
    ) AS failed_share,
    CAST(from_samples.n_failed_scores AS BIGINT) AS n_failed_scores,
    CAST(from_samples.n_out_of_scale AS BIGINT) AS n_out_of_scale,
    CAST(COALESCE(out_of_range.n_means, 0) AS BIGINT) AS n_means_out_of_range,
    group_protocols.status,
    group_protocols.validity,
    group_protocols.validity_reasons,
    group_protocols.first_revision,
    group_protocols.relative_dir
FROM group_protocols
LEFT JOIN published
    ON
        group_protocols.group_id = published.group_id
        AND group_protocols.protocol = published.protocol
LEFT JOIN out_of_range
    ON
        group_protocols.group_id = out_of_range.group_id
        AND group_protocols.protocol = out_of_range.protocol
LEFT JOIN from_samples
    ON
        group_protocols.experiment = from_samples.experiment
        AND group_protocols.backbone = from_samples.backbone
        AND group_protocols.split = from_samples.split
        AND group_protocols.collection = from_samples.collection
        AND group_protocols.baseline = from_samples.baseline
        AND group_protocols.group_id = from_samples.group_id
        AND group_protocols.protocol = from_samples.protocol
