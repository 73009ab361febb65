-- overview_leaders: the systems of each split that are first, or may be first within the intervals of the ratings.
-- title: Who leads
-- grain: experiment, protocol, split, backbone, baseline
-- chunk: none
-- reason: rating_pool
-- column experiment: How the system was run.
-- column protocol: How responses were scored: metrics or llm_judge; each is ranked for itself.
-- column split: How datasets are collected: domain or task.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column rank: Rank by mean_weighted_average over all collections of the split.
-- column n_ranked: Systems that are ranked.
-- column mean_weighted_average: Mean of weighted_average over the split's collections.
-- column n_unknown: Collections in which the validity of the system's group is unknown: there are no responses to judge
--     by.
-- column n_out_of_scale: Collections in which scores lie outside of their dataset's range, or a published mean of
--     min-max scores outside of 0 to 1. Numbers over samples take such scores as they are; whether a published one does
--     is not known.
-- column rating: Overall Bradley-Terry rating.
-- column rating_low: Lower end of its 95 % interval.
-- column rating_high: Upper end of it.
-- column rank_low: The best rank by rating that the intervals allow.
-- column rank_high: The worst rank by rating that the intervals allow.
-- column n_may_be_first: Systems of the split whose interval allows the first rank; missing where no rating has an
--     interval.
-- column rating_pool: What the system was rated against, or why it was not rated.
WITH {doubts},

placed AS (
    SELECT
        leaderboard.experiment,
        leaderboard.protocol,
        leaderboard.split,
        leaderboard.backbone,
        leaderboard.baseline,
        leaderboard.rank,
        leaderboard.n_ranked,
        leaderboard.mean_weighted_average,
        doubts.n_unknown,
        doubts.n_out_of_scale,
        leaderboard.rating,
        leaderboard.rating_low,
        leaderboard.rating_high,
        leaderboard.rank_low,
        leaderboard.rank_high,
        NULLIF(COUNT(*) FILTER (WHERE leaderboard.rank_low = 1) OVER (
            PARTITION BY leaderboard.experiment, leaderboard.protocol, leaderboard.split
        ), 0) AS n_may_be_first,
        leaderboard.rating_pool
    FROM leaderboard
    LEFT JOIN doubts
        ON
            leaderboard.experiment = doubts.experiment
            AND leaderboard.protocol = doubts.protocol
            AND leaderboard.split = doubts.split
            AND leaderboard.backbone = doubts.backbone
            AND leaderboard.baseline = doubts.baseline
)

SELECT
    placed.experiment,
    placed.protocol,
    placed.split,
    placed.backbone,
    placed.baseline,
    placed.rank,
    placed.n_ranked,
    placed.mean_weighted_average,
    CAST(placed.n_unknown AS BIGINT) AS n_unknown,
    CAST(placed.n_out_of_scale AS BIGINT) AS n_out_of_scale,
    placed.rating,
    placed.rating_low,
    placed.rating_high,
    placed.rank_low,
    placed.rank_high,
    CAST(placed.n_may_be_first AS BIGINT) AS n_may_be_first,
    placed.rating_pool
FROM placed
WHERE placed.rank = 1 OR placed.rank_low = 1
ORDER BY
    placed.experiment, placed.protocol, placed.split, placed.rank NULLS LAST, placed.backbone, placed.baseline
