-- compare_datasets: two systems on each dataset, over the samples that both have a published score of.
-- title: Dataset by dataset
-- grain: experiment, protocol, split, collection, pair of systems, dataset_group
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
-- column dataset_group: The dataset, Locomo-0..9 as one.
-- column n: Samples that both have a published score of.
-- column wins: Samples on which the first scores higher by more than 1e-9.
-- column ties: Samples on which they differ by no more than 1e-9.
-- column losses: Samples on which the first scores lower by more than 1e-9.
-- column minmax_difference: Mean difference of the min-max scores, first minus second; missing where the protocol's
--     constants are not published.
-- column minmax_low: minmax_difference less 1.96 standard errors of the mean of independent differences; missing with
--     fewer than five samples, too few for it.
-- column minmax_high: minmax_difference and 1.96 standard errors.
-- column difference: Mean difference of the scores in the dataset's own unit, first minus second.
-- column n_out_of_scale: Scores of the two systems outside of the dataset's range, which the numbers take as they are.
-- column is_invalid: Whether one of the two groups is invalid.
-- column is_unknown: Whether the validity of one of the two groups is unknown: there are no responses to judge by.
WITH {paired}

SELECT
    paired.experiment,
    paired.protocol,
    paired.split,
    paired.collection,
    paired.backbone,
    paired.baseline,
    paired.other_backbone,
    paired.other_baseline,
    paired.dataset_group,
    {differences},
    CAST(AVG(paired.difference) AS DOUBLE) AS difference,
    CAST(SUM(paired.n_out_of_scale) AS BIGINT) AS n_out_of_scale,
    paired.is_invalid,
    paired.is_unknown
FROM paired
GROUP BY
    paired.experiment,
    paired.protocol,
    paired.split,
    paired.collection,
    paired.backbone,
    paired.baseline,
    paired.other_backbone,
    paired.other_baseline,
    paired.dataset_group,
    paired.is_invalid,
    paired.is_unknown
ORDER BY
    paired.experiment,
    paired.protocol,
    paired.split,
    paired.collection,
    paired.backbone,
    paired.baseline,
    paired.other_backbone,
    paired.other_baseline,
    paired.dataset_group
