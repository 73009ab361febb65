-- compare_samples: of two systems in one collection, the five samples on which their scores differ most.
-- title: The samples that differ most
-- grain: experiment, protocol, split, collection, pair of systems, place
-- chunk: experiment, protocol, split, collection
-- reason: none
-- column experiment: How the systems were run.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column backbone: The language model of the first system.
-- column baseline: The memory system of the first system.
-- column other_backbone: The language model of the second system.
-- column other_baseline: The memory system of the second system.
-- column place: 1 for the largest difference; by min-max score, or by score where there is none.
-- column dataset: The sample's dataset.
-- column test_idx: The sample's index inside its dataset.
-- column score: The score of the first system, in the dataset's own unit.
-- column other_score: The score of the second system.
-- column minmax_difference: Difference of the min-max scores, first minus second.
-- column n_out_of_scale: Scores of the two systems outside of the dataset's range, which the numbers take as they are.
-- column is_invalid: Whether one of the two groups is invalid.
-- column is_unknown: Whether the validity of one of the two groups is unknown: there are no responses to judge by.
WITH {paired},

placed AS (
    SELECT
        paired.experiment,
        paired.protocol,
        paired.split,
        paired.collection,
        paired.backbone,
        paired.baseline,
        paired.other_backbone,
        paired.other_baseline,
        paired.is_invalid,
        paired.is_unknown,
        paired.dataset,
        paired.test_idx,
        paired.score,
        paired.other_score,
        paired.minmax_difference,
        paired.n_out_of_scale,
        ROW_NUMBER() OVER (
            PARTITION BY
                paired.experiment,
                paired.protocol,
                paired.split,
                paired.collection,
                paired.backbone,
                paired.baseline,
                paired.other_backbone,
                paired.other_baseline
            ORDER BY
                ABS(paired.minmax_difference) DESC NULLS LAST,
                ABS(paired.difference) DESC,
                paired.dataset,
                paired.test_idx
        ) AS place
    FROM paired
    WHERE ABS(paired.difference) > 1e-9
)

SELECT
    placed.experiment,
    placed.protocol,
    placed.split,
    placed.collection,
    placed.backbone,
    placed.baseline,
    placed.other_backbone,
    placed.other_baseline,
    CAST(placed.place AS BIGINT) AS place,
    placed.dataset,
    placed.test_idx,
    placed.score,
    placed.other_score,
    CAST(placed.minmax_difference AS DOUBLE) AS minmax_difference,
    CAST(placed.n_out_of_scale AS BIGINT) AS n_out_of_scale,
    placed.is_invalid,
    placed.is_unknown
FROM placed
WHERE placed.place <= 5
ORDER BY
    placed.experiment,
    placed.protocol,
    placed.split,
    placed.collection,
    placed.backbone,
    placed.baseline,
    placed.other_backbone,
    placed.other_baseline,
    placed.place
