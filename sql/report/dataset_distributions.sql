-- dataset_distributions: how the scores of each system on each dataset are spread: of a dataset with at most 12
--     different scores, each score; of others, 12 bins of equal width between the smallest and the largest.
-- title: Distribution of scores
-- grain: experiment, protocol, split, collection, dataset_group, backbone, baseline, bin
-- chunk: experiment, protocol, split, collection
-- reason: none
-- column experiment: How the system was run.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column dataset_group: The dataset, Locomo-0..9 as one.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column n_scores: The system's scores on the dataset, in all bins.
-- column origin: published: scores of summary.details; derived: the dataset's main metric, as there are no details.
-- column bin: The bin's number, from 0.
-- column bin_low: Smallest score of the bin.
-- column bin_high: Largest score of the bin, which belongs to the next one unless it is the last; equal to bin_low
--     where a bin is one score.
-- column n: Scores in the bin; a bin without any has no row.
-- column share: n as a share of the system's scores on the dataset.
-- column is_invalid: Whether the group is invalid.
WITH scores AS (
    SELECT
        sample_results.experiment,
        sample_results.protocol,
        sample_results.split,
        sample_results.collection,
        sample_results.dataset_group,
        sample_results.backbone,
        sample_results.baseline,
        sample_results.group_id,
        sample_results.origin,
        sample_results.score
    FROM sample_results
    WHERE sample_results.score IS NOT NULL AND ABS(sample_results.score) <= 1e150
),

ranges AS (
    SELECT
        scores.experiment,
        scores.protocol,
        scores.split,
        scores.collection,
        scores.dataset_group,
        MIN(scores.score) AS low,
        MAX(scores.score) AS high,
        COUNT(DISTINCT scores.score) AS n_values
    FROM scores
    GROUP BY scores.experiment, scores.protocol, scores.split, scores.collection, scores.dataset_group
),

invalid AS (
    SELECT coverage.group_id
    FROM coverage
    WHERE coverage.validity = 'invalid'
),

binned AS (
    SELECT
        scores.experiment,
        scores.protocol,
        scores.split,
        scores.collection,
        scores.dataset_group,
        scores.backbone,
        scores.baseline,
        scores.group_id,
        scores.origin,
        CASE
            WHEN ranges.n_values <= 12
                THEN DENSE_RANK() OVER (
                    PARTITION BY
                        scores.experiment,
                        scores.protocol,
                        scores.split,
                        scores.collection,
                        scores.dataset_group
                    ORDER BY scores.score
                ) - 1
            ELSE LEAST(11, FLOOR((scores.score - ranges.low) / (ranges.high - ranges.low) * 12))
        END AS bin,
        CASE WHEN ranges.n_values <= 12 THEN scores.score END AS score,
        ranges.low,
        (ranges.high - ranges.low) / 12 AS width
    FROM scores
    INNER JOIN ranges
        ON
            scores.experiment = ranges.experiment
            AND scores.protocol = ranges.protocol
            AND scores.split = ranges.split
            AND scores.collection = ranges.collection
            AND scores.dataset_group = ranges.dataset_group
)

SELECT
    binned.experiment,
    binned.protocol,
    binned.split,
    binned.collection,
    binned.dataset_group,
    binned.backbone,
    binned.baseline,
    CAST(SUM(COUNT(*)) OVER (
        PARTITION BY binned.group_id, binned.protocol, binned.dataset_group
    ) AS BIGINT) AS n_scores,
    -- On one dataset, a group has either published scores or derived ones.
    MIN(binned.origin) AS origin,
    CAST(binned.bin AS BIGINT) AS bin,
    CAST(COALESCE(MIN(binned.score), MIN(binned.low) + binned.bin * MIN(binned.width)) AS DOUBLE) AS bin_low,
    CAST(COALESCE(MIN(binned.score), MIN(binned.low) + (binned.bin + 1) * MIN(binned.width)) AS DOUBLE) AS bin_high,
    CAST(COUNT(*) AS BIGINT) AS n,
    CAST(COUNT(*) / SUM(COUNT(*)) OVER (
        PARTITION BY binned.group_id, binned.protocol, binned.dataset_group
    ) AS DOUBLE) AS share,
    binned.group_id IN (SELECT invalid.group_id FROM invalid) AS is_invalid
FROM binned
GROUP BY
    binned.experiment,
    binned.protocol,
    binned.split,
    binned.collection,
    binned.dataset_group,
    binned.backbone,
    binned.baseline,
    binned.group_id,
    binned.bin
ORDER BY
    binned.experiment,
    binned.protocol,
    binned.split,
    binned.collection,
    binned.dataset_group,
    binned.backbone,
    binned.baseline,
    binned.bin
