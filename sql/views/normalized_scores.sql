-- normalized_scores: each score with its min-max score and its z; the one definition of both that all views use.
-- grain: group, protocol, dataset_group, position
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column dataset_group: The dataset with Locomo-0..9 folded into Locomo.
-- column dataset: The dataset as published; NULL where it is not known whose score it is.
-- column test_idx: The sample's index inside its dataset; NULL where it is not known whose score it is.
-- column position: The score's place in its dataset group, from 0.
-- column score: The score as published; NULL where null or text is published, or a judge call failed.
-- column score_counted: What the publisher's means count: the score, with null and text as 0. NULL where nothing is
--     published.
-- column minmax_score: (score_counted - min) / (max - min), 0 where max = min, not clipped to 0..1. NULL where the
--     constants are unknown or score_counted is NULL, NaN or infinite. Compares inside one split and collection only.
-- column z: (score_counted - mu) / sigma, 0 where sigma <= 1e-6. NULL where minmax_score is.
-- column is_finite: Whether score_counted is a finite number; NULL where it is NULL. What is not finite is left out
--     of every mean, and counted.
-- column origin: published: from summary.details; derived: the dataset's main metric, as there are no details.
-- column failed: The generation or the judge call failed; NULL where that is unknown.
-- column out_of_scale: The score lies outside the dataset's published range; NULL where score or range is unknown.
SELECT
    scores.experiment,
    scores.backbone,
    scores.split,
    scores.collection,
    scores.baseline,
    scores.group_id,
    scores.protocol,
    scores.dataset_group,
    scores.dataset,
    scores.test_idx,
    scores.position,
    scores.score,
    scores.score_counted,
    CAST(
        CASE
            -- NaN sorts above every number, so this one comparison leaves out NaN and both infinities.
            WHEN ABS(scores.score_counted) <= 1.7976931348623157e308
                THEN CASE
                    WHEN constants.max = constants.min THEN 0
                    ELSE (scores.score_counted - constants.min) / (constants.max - constants.min)
                END
        END AS DOUBLE
    ) AS minmax_score,
    CAST(
        CASE
            WHEN ABS(scores.score_counted) <= 1.7976931348623157e308
                THEN CASE
                    WHEN constants.sigma <= 1e-6 THEN 0
                    ELSE (scores.score_counted - constants.mu) / constants.sigma
                END
        END AS DOUBLE
    ) AS z,
    ABS(scores.score_counted) <= 1.7976931348623157e308 AS is_finite,
    scores.origin,
    scores.failed,
    scores.out_of_scale
FROM sample_scores AS scores
-- The constants belong to the protocol metrics; those of other protocols are not published.
LEFT JOIN normalization AS constants
    ON
        scores.split = constants.split
        AND scores.collection = constants.collection
        AND scores.dataset_group = constants.dataset_group
        AND scores.protocol = 'metrics'
