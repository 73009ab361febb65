-- leaderboard_systems{_all}: the systems of a split over all of its collections, with ratings, intervals and sizes.
-- title: Leaderboard
-- grain: experiment, protocol, split, backbone, baseline
-- chunk: none
-- reason: missing_collections
-- column experiment: How the system was run.
-- column protocol: How responses were scored: metrics or llm_judge; each is ranked for itself.
-- column split: How datasets are collected: domain or task.
-- column rank: Rank by mean_weighted_average; missing where a collection is missing.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column mean_weighted_average: Mean of the published weighted_average over the split's collections.
-- column n_invalid: Collections in which the system's group is invalid; its numbers there mean nothing.
-- column n_unknown: Collections in which the validity of the system's group is unknown: there are no responses to judge
--     by.
-- column n_out_of_scale: Collections in which scores lie outside of their dataset's range, or a published mean of
--     min-max scores outside of 0 to 1. Numbers over samples take such scores as they are; whether a published one does
--     is not known.
-- column rating: Overall Bradley-Terry rating; 100 points are a win rate of 64 %. Of valid groups only, always.
-- column rating_low: Lower end of its 95 % interval.
-- column rating_high: Upper end of it.
-- column rank_low: The best rank by rating that the intervals allow.
-- column rank_high: The worst rank by rating that the intervals allow.
-- column n_collections: Collections in which the system is ranked.
-- column missing_collections: The collections in which it is not, and why.
-- column mean_z_score: Mean of the published z_score over the split's collections.
-- column mean_rank: Mean of its ranks in the collections.
-- column mean_prompt_chars: Mean length of a prompt in characters.
-- column mean_response_chars: Mean length of a response in characters.
-- column rating_pool: What the system was rated against, or why it was not rated.
WITH {doubts}

SELECT
    board.experiment,
    board.protocol,
    board.split,
    board.rank,
    board.backbone,
    board.baseline,
    board.mean_weighted_average,
    CAST(doubts.n_invalid AS BIGINT) AS n_invalid,
    CAST(doubts.n_unknown AS BIGINT) AS n_unknown,
    CAST(doubts.n_out_of_scale AS BIGINT) AS n_out_of_scale,
    board.rating,
    board.rating_low,
    board.rating_high,
    board.rank_low,
    board.rank_high,
    board.n_collections,
    board.missing_collections,
    board.mean_z_score,
    board.mean_rank,
    board.mean_prompt_chars,
    board.mean_response_chars,
    board.rating_pool
FROM leaderboard{_all} AS board
LEFT JOIN doubts
    ON
        board.experiment = doubts.experiment
        AND board.protocol = doubts.protocol
        AND board.split = doubts.split
        AND board.backbone = doubts.backbone
        AND board.baseline = doubts.baseline
ORDER BY board.experiment, board.protocol, board.split, board.rank NULLS LAST, board.backbone, board.baseline
