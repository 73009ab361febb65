-- collection_results{_all}: each system in each collection: the published means, the rank, and the rating.
-- title: Memory systems and backbones in one collection
-- grain: experiment, protocol, split, collection, backbone, baseline
-- chunk: none
-- reason: excluded
-- column experiment: How the system was run.
-- column protocol: How responses were scored: metrics or llm_judge; each is ranked for itself.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column rank: Rank by weighted_average among all systems of the collection.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column weighted_average: The published mean min-max score over all samples. Compares inside one collection only. Outside
--     of 0 to 1, where no such mean can be, it is not ranked.
-- column z_score: The published mean z over all samples. Compares inside one collection only.
-- column rating: Bradley-Terry rating; the mean of the collection's pool is 1000.
-- column rating_low: Lower end of its 95 % interval.
-- column rating_high: Upper end of it.
-- column rank_low: The best rank by rating that the intervals allow.
-- column rank_high: The worst rank by rating that the intervals allow.
-- column validity: Of the group: valid, suspect or invalid; missing (unknown) where there are no responses to judge by.
-- column n_out_of_scale: Scores outside of their dataset's range; missing where that is known of none. Numbers over
--     samples take them as they are; whether a published one does is not known.
-- column n_means_out_of_range: How many of the published average and weighted_average lie outside of 0 to 1.
-- column status: complete, partial, or stale (the last good version is shown).
-- column excluded: Why the system is not ranked.
SELECT
    rankings.experiment,
    rankings.protocol,
    rankings.split,
    rankings.collection,
    rankings.rank,
    rankings.backbone,
    rankings.baseline,
    rankings.weighted_average,
    rankings.z_score,
    rankings.rating,
    rankings.rating_low,
    rankings.rating_high,
    rankings.rank_low,
    rankings.rank_high,
    results.validity,
    results.n_out_of_scale,
    results.n_means_out_of_range,
    results.status,
    rankings.excluded
FROM collection_rankings{_all} AS rankings
INNER JOIN results
    ON
        rankings.group_id = results.group_id
        AND rankings.protocol = results.protocol
ORDER BY
    rankings.experiment,
    rankings.protocol,
    rankings.split,
    rankings.collection,
    rankings.rank NULLS LAST,
    rankings.backbone,
    rankings.baseline
