-- memory_gain{_all}: what each memory system gains over wo_memory, the same backbone without memory, with intervals and
--     tests: the table gain_tests with what may be said of it. A row without figures says in `excluded` why.
--     {invalid_groups}
-- grain: group whose baseline is not wo_memory, protocol
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge. Without the constants of a protocol there is no
--     gain.
-- column delta: The gain: the mean over n of the baseline's min-max score minus that of wo_memory.
-- column ci_low: Lower end of the 95 % interval on these datasets, delta - t(df) * se_stratified.
-- column ci_high: Upper end of it.
-- column on_these_datasets: better, worse or not significant, by p_stratified_holm at 0.05: what other samples of these
--     datasets would show; cannot tell where there is no p. NULL where there is no gain.
-- column to_other_datasets: better, worse or not significant, by p_clustered_holm at 0.05: what other datasets would
--     show; cannot tell where testable is false. NULL where there is no gain.
-- column n: Common samples with a published score on both sides and a finite difference, failures included.
-- column n_not_finite: Common samples left out because their difference is NaN, infinite or beyond 1e100.
-- column wins: Samples on which the baseline is better by more than 1e-9.
-- column ties: Samples on which the two differ by no more than 1e-9.
-- column losses: Samples on which the baseline is worse by more than 1e-9.
-- column n_failed_baseline: Samples of n whose generation or judgement failed on the baseline's side.
-- column n_failed_reference: The same on the side of wo_memory.
-- column n_valid: Samples of n that failed on neither side.
-- column delta_valid: The mean difference over n_valid.
-- column n_strata: Dataset groups that occur in n.
-- column se_stratified: Standard error of delta for other samples of these datasets: (1/N) * sqrt(sum over dataset
--     groups of n_g times the variance (ddof 1)). NULL where a dataset group has a single sample, or none has any
--     spread.
-- column df: Degrees of freedom of the stratified interval: n - n_strata.
-- column p_stratified: Two-sided p of no gain on these datasets, by t(df), not adjusted.
-- column p_stratified_holm: p_stratified adjusted by Holm over the n_family gains.
-- column n_clusters: Datasets that occur in n, each LoCoMo conversation its own.
-- column se_clustered: Standard error of delta for other datasets; NULL where n_clusters < 2.
-- column ci_clustered_low: Lower end of delta - t(n_clusters - 1) * se_clustered.
-- column ci_clustered_high: Upper end of it.
-- column se_clustered_cr2: se_clustered, bias-reduced (CR2) for datasets of unequal size.
-- column df_clustered_cr2: Satterthwaite degrees of freedom of se_clustered_cr2.
-- column ci_clustered_cr2_low: Lower end of the 95 % interval to other datasets, delta - t(df_clustered_cr2) *
--     se_clustered_cr2.
-- column ci_clustered_cr2_high: Upper end of it.
-- column p_clustered: Exact two-sided p of no gain on other datasets, by flipping signs of the datasets' sums; not
--     adjusted.
-- column p_clustered_holm: p_clustered adjusted by Holm over the n_family gains.
-- column p_min: The smallest p_clustered that so few datasets can give: 2^(1 - n_clusters).
-- column testable: Whether p_clustered_holm could reach 0.05 at all with these datasets. Where false, read 'cannot
--     tell', not 'no difference'.
-- column n_family: Gains that Holm adjusts together: those of one experiment, backbone, split, collection and protocol
--     that are not excluded. One without a p value is among them, and does not count in Holm's m.
-- column reference_group_id: The wo_memory group that it is compared with; NULL where none.
-- column excluded: Why the gain means nothing or is not there: a group is invalid, or there is nothing to compare with;
--     NULL where it counts.
SELECT
    gains.experiment,
    gains.backbone,
    gains.split,
    gains.collection,
    gains.baseline,
    gains.group_id,
    gains.protocol,
    counted.delta,
    counted.ci_low,
    counted.ci_high,
    CAST(
        CASE
            WHEN counted.delta IS NULL THEN NULL
            WHEN counted.p_stratified_holm IS NULL THEN 'cannot tell'
            WHEN counted.p_stratified_holm > 0.05 THEN 'not significant'
            WHEN counted.delta > 0 THEN 'better'
            ELSE 'worse'
        END AS VARCHAR
    ) AS on_these_datasets,
    CAST(
        CASE
            WHEN counted.delta IS NULL THEN NULL
            WHEN counted.p_clustered_holm IS NULL OR NOT counted.testable THEN 'cannot tell'
            WHEN counted.p_clustered_holm > 0.05 THEN 'not significant'
            WHEN counted.delta > 0 THEN 'better'
            ELSE 'worse'
        END AS VARCHAR
    ) AS to_other_datasets,
    counted.n,
    counted.n_not_finite,
    counted.wins,
    counted.ties,
    counted.losses,
    counted.n_failed_baseline,
    counted.n_failed_reference,
    counted.n_valid,
    counted.delta_valid,
    counted.n_strata,
    counted.se_stratified,
    counted.df,
    counted.p_stratified,
    counted.p_stratified_holm,
    counted.n_clusters,
    counted.se_clustered,
    counted.ci_clustered_low,
    counted.ci_clustered_high,
    counted.se_clustered_cr2,
    counted.df_clustered_cr2,
    counted.ci_clustered_cr2_low,
    counted.ci_clustered_cr2_high,
    counted.p_clustered,
    counted.p_clustered_holm,
    counted.p_min,
    counted.testable,
    counted.n_family,
    gains.reference_group_id,
    gains.excluded
FROM gain_tests AS gains
-- The same row where its figures count, else none.
LEFT JOIN gain_tests AS counted
    ON
        gains.group_id = counted.group_id
        AND gains.protocol = counted.protocol
        AND (counted.excluded IS NULL OR NOT {only_valid})
