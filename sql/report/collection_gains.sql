-- collection_gains{_all}: what each memory system adds to no memory, sample by sample, with its 95 % interval.
-- title: Gain over no memory
-- grain: experiment, protocol, split, collection, backbone, baseline
-- chunk: none
-- reason: excluded
-- column experiment: How the system was run.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column delta: The gain: the mean difference of min-max scores to no memory over the common samples.
-- column ci_low: Lower end of its 95 % interval on these datasets.
-- column ci_high: Upper end of it.
-- column on_these_datasets: better, worse or not significant for other samples of these datasets (Holm, 0.05).
-- column to_other_datasets: The same as a claim on other datasets; cannot tell where no test could find a difference.
-- column p_stratified_holm: The adjusted p value of on_these_datasets.
-- column n: Common samples.
-- column wins: Samples on which memory is better.
-- column ties: Samples on which the two are equal.
-- column losses: Samples on which memory is worse.
-- column n_failed_baseline: Samples of n that failed with memory.
-- column n_failed_reference: Samples of n that failed without memory.
-- column n_out_of_scale: Scores of the group and of the one without memory outside of their dataset's range, which the
--     gain takes as they are; missing where that is known of none.
-- column excluded: Why there is no gain.
SELECT
    gain.experiment,
    gain.protocol,
    gain.split,
    gain.collection,
    gain.backbone,
    gain.baseline,
    gain.delta,
    gain.ci_low,
    gain.ci_high,
    gain.on_these_datasets,
    gain.to_other_datasets,
    gain.p_stratified_holm,
    gain.n,
    gain.wins,
    gain.ties,
    gain.losses,
    gain.n_failed_baseline,
    gain.n_failed_reference,
    CAST(
        COALESCE(own.n_out_of_scale + without.n_out_of_scale, own.n_out_of_scale, without.n_out_of_scale) AS BIGINT
    ) AS n_out_of_scale,
    gain.excluded
FROM memory_gain{_all} AS gain
LEFT JOIN results AS own
    ON gain.group_id = own.group_id AND gain.protocol = own.protocol
LEFT JOIN results AS without
    ON gain.reference_group_id = without.group_id AND gain.protocol = without.protocol
ORDER BY gain.experiment, gain.protocol, gain.split, gain.collection, gain.backbone, gain.baseline
