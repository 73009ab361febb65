-- dataset_means: the mean score of each system on each dataset, in the dataset's own unit, with its standard error.
-- title: Means by dataset
-- grain: experiment, protocol, split, collection, dataset_group, backbone, baseline
-- chunk: none
-- reason: none
-- column experiment: How the system was run.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column dataset_group: The dataset, Locomo-0..9 as one.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column n: Number of scores that the mean is over.
-- column mean: Mean score, in the dataset's own unit.
-- column standard_error: Its standard error; missing with fewer than two scores.
-- column average: The published mean score.
-- column minmax_average: The published mean of the min-max scores.
-- column z_average: The published mean of z.
-- column n_failed: Scores whose generation or judge call failed.
-- column n_out_of_scale: Scores outside of the dataset's range; missing where that is known of none. Numbers over samples
--     take them as they are; whether a published one does is not known.
-- column origin: published: scores of summary.details; derived: the dataset's main metric, as there are no details.
-- column validity: Of the whole group: valid, suspect or invalid.
SELECT
    dataset_results.experiment,
    dataset_results.protocol,
    dataset_results.split,
    dataset_results.collection,
    dataset_results.dataset_group,
    dataset_results.backbone,
    dataset_results.baseline,
    dataset_results.n,
    dataset_results.mean,
    dataset_results.standard_error,
    dataset_results.average,
    dataset_results.minmax_average,
    dataset_results.z_average,
    dataset_results.n_failed,
    dataset_results.n_out_of_scale,
    dataset_results.origin,
    dataset_results.validity
FROM dataset_results
ORDER BY
    dataset_results.experiment,
    dataset_results.protocol,
    dataset_results.split,
    dataset_results.collection,
    dataset_results.dataset_group,
    dataset_results.backbone,
    dataset_results.baseline
