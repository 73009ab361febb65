-- leaderboard{_all}: the systems of a split over all of its collections. Only systems that are ranked in every collection
--     of the split are ranked here, because means over different collections do not compare; of all others it says what
--     is missing. Nothing is averaged across splits. {invalid_groups}
-- grain: experiment, backbone, split, baseline, protocol
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column baseline: The memory system.
-- column protocol: How responses were scored: metrics or llm_judge; each is ranked for itself.
-- column rank: 1 + the number of systems whose mean_weighted_average is higher by more than 1e-9, so that ties share a
--     rank. NULL where a collection is missing.
-- column n_ranked: Number of systems ranked in the split.
-- column n_collections: Number of collections in which the system is ranked.
-- column missing_collections: The collections of the split in which it is not, and why; that there is none to be ranked
--     in, where no system is ranked at all; NULL where it is ranked in all.
-- column mean_weighted_average: Unweighted mean of weighted_average over the split's collections; NULL where one is
--     missing.
-- column mean_z_score: The same of z_score; NULL also where a collection has none that is finite.
-- column mean_rank: The same of the ranks in collection_rankings.
-- column rating: Overall rating: the mean of its ratings over the collections; NULL where not rated in all.
-- column rating_low: Lower end of its 95 % interval; NULL where not rated, and where rating_pool says that
--     there is no interval.
-- column rating_high: Upper end of it.
-- column rating_rank: Rank by rating.
-- column rank_low: The best rank by rating that the intervals allow; NULL without an interval.
-- column rank_high: The worst rank by rating that the intervals allow; NULL without an interval.
-- column rating_pool: What the system was rated against and, where so, why there is no interval; or why it was not
--     rated.
-- column mean_prompt_chars: Mean length of a prompt in characters, over all samples of the split. NULL where a collection
--     is missing or the system's responses in one are not all published: in each it needs as many as most groups of the
--     experiment there have samples, which is the largest of a group's numbers of responses, evaluations and scores; of
--     numbers that equally many groups have, the larger. What nobody publishes is not known to be missing.
-- column mean_response_chars: Mean length of a response in characters, over the same samples; NULL where that is.
--     A response that is published as null has no length and is left out.
WITH ranked AS (
    SELECT
        rankings.experiment,
        rankings.backbone,
        rankings.split,
        rankings.collection,
        rankings.baseline,
        rankings.group_id,
        rankings.protocol,
        rankings.rank,
        rankings.weighted_average,
        rankings.z_score,
        rankings.excluded
    FROM collection_rankings{_all} AS rankings
),

collections AS (
    SELECT
        ranked.experiment,
        ranked.split,
        ranked.protocol,
        ranked.collection,
        COUNT(*) OVER (PARTITION BY ranked.experiment, ranked.split, ranked.protocol) AS n_needed
    FROM ranked
    WHERE ranked.rank IS NOT NULL
    GROUP BY
        ranked.experiment,
        ranked.split,
        ranked.protocol,
        ranked.collection
),

systems AS (
    SELECT DISTINCT
        ranked.experiment,
        ranked.backbone,
        ranked.split,
        ranked.baseline,
        ranked.protocol
    FROM ranked
),

sizes AS (
    SELECT
        predictions.experiment,
        predictions.split,
        predictions.collection,
        predictions.group_id,
        COUNT(*) AS n,
        SUM(predictions.prompt_chars) AS prompt_chars,
        COUNT(predictions.response_chars) AS n_responses,
        SUM(predictions.response_chars) AS response_chars
    FROM predictions
    GROUP BY
        predictions.experiment,
        predictions.split,
        predictions.collection,
        predictions.group_id
),

-- Every number of samples that a group says that its collection has.
counts AS (
    SELECT
        result_groups.experiment,
        result_groups.split,
        result_groups.collection,
        result_groups.group_id,
        result_groups.n_evaluations AS n_samples
    FROM result_groups
    UNION ALL
    SELECT
        sizes.experiment,
        sizes.split,
        sizes.collection,
        sizes.group_id,
        sizes.n AS n_samples
    FROM sizes
    UNION ALL
    SELECT
        sample_scores.experiment,
        sample_scores.split,
        sample_scores.collection,
        sample_scores.group_id,
        COUNT(*) AS n_samples
    FROM sample_scores
    GROUP BY
        sample_scores.experiment,
        sample_scores.split,
        sample_scores.collection,
        sample_scores.group_id,
        sample_scores.protocol
),

largest AS (
    SELECT
        counts.experiment,
        counts.split,
        counts.collection,
        MAX(counts.n_samples) AS n_samples
    FROM counts
    WHERE counts.n_samples > 0
    GROUP BY
        counts.experiment,
        counts.split,
        counts.collection,
        counts.group_id
),

-- The commonest number first: one group with a sample too many or too few says nothing of the others.
common AS (
    SELECT
        largest.experiment,
        largest.split,
        largest.collection,
        largest.n_samples,
        ROW_NUMBER() OVER (
            PARTITION BY largest.experiment, largest.split, largest.collection
            ORDER BY COUNT(*) DESC, largest.n_samples DESC
        ) AS place
    FROM largest
    GROUP BY
        largest.experiment,
        largest.split,
        largest.collection,
        largest.n_samples
),

expected AS (
    SELECT
        common.experiment,
        common.split,
        common.collection,
        common.n_samples
    FROM common
    WHERE common.place = 1
),

covered AS (
    SELECT
        systems.experiment,
        systems.backbone,
        systems.split,
        systems.baseline,
        systems.protocol,
        COUNT(ranked.rank) AS n_collections,
        MAX(collections.n_needed) AS n_needed,
        ARRAY_TO_STRING(
            LIST_SORT(
                LIST(CONCAT(collections.collection, ' (', COALESCE(ranked.excluded, 'not published'), ')'))
                FILTER (WHERE ranked.rank IS NULL AND collections.n_needed > 0)
            ),
            ', '
        ) AS missing_collections,
        AVG(ranked.weighted_average) AS weighted_average,
        AVG(ranked.z_score) AS z_score,
        COUNT(ranked.z_score) AS n_z_scores,
        AVG(ranked.rank) AS mean_rank,
        COUNT(*) FILTER (WHERE ranked.rank IS NOT NULL AND sizes.n >= expected.n_samples) AS n_answered,
        SUM(sizes.prompt_chars) / NULLIF(SUM(sizes.n), 0) AS prompt_chars,
        SUM(sizes.response_chars) / NULLIF(SUM(sizes.n_responses), 0) AS response_chars
    FROM systems
    LEFT JOIN collections
        ON
            systems.experiment = collections.experiment
            AND systems.split = collections.split
            AND systems.protocol = collections.protocol
    LEFT JOIN ranked
        ON
            systems.experiment = ranked.experiment
            AND systems.backbone = ranked.backbone
            AND systems.split = ranked.split
            AND systems.baseline = ranked.baseline
            AND systems.protocol = ranked.protocol
            AND collections.collection = ranked.collection
    LEFT JOIN sizes
        ON ranked.group_id = sizes.group_id
    LEFT JOIN expected
        ON
            collections.experiment = expected.experiment
            AND collections.split = expected.split
            AND collections.collection = expected.collection
    GROUP BY
        systems.experiment,
        systems.backbone,
        systems.split,
        systems.baseline,
        systems.protocol
),

complete AS (
    SELECT
        covered.experiment,
        covered.backbone,
        covered.split,
        covered.baseline,
        covered.protocol,
        covered.n_collections,
        CASE
            WHEN covered.n_needed IS NULL THEN 'no system is ranked in any collection'
            ELSE covered.missing_collections
        END AS missing_collections,
        CASE WHEN covered.n_collections = covered.n_needed THEN covered.weighted_average END AS weighted_average,
        CASE WHEN covered.n_z_scores = covered.n_needed THEN covered.z_score END AS z_score,
        CASE WHEN covered.n_collections = covered.n_needed THEN covered.mean_rank END AS mean_rank,
        CASE WHEN covered.n_answered = covered.n_needed THEN covered.prompt_chars END AS prompt_chars,
        CASE WHEN covered.n_answered = covered.n_needed THEN covered.response_chars END AS response_chars
    FROM covered
),

better AS (
    SELECT
        complete.experiment,
        complete.backbone,
        complete.split,
        complete.baseline,
        complete.protocol,
        complete.n_collections,
        complete.missing_collections,
        complete.weighted_average,
        complete.z_score,
        complete.mean_rank,
        complete.prompt_chars,
        complete.response_chars,
        COUNT(complete.weighted_average) OVER (
            PARTITION BY complete.experiment, complete.split, complete.protocol
        ) AS n_ranked,
        COUNT(complete.weighted_average) OVER (
            PARTITION BY
                complete.experiment, complete.split, complete.protocol, complete.weighted_average IS NULL
            ORDER BY complete.weighted_average DESC
            RANGE BETWEEN UNBOUNDED PRECEDING AND CAST(1e-9 AS DOUBLE) PRECEDING
        ) AS n_better
    FROM complete
)

SELECT
    better.experiment,
    better.backbone,
    better.split,
    better.baseline,
    better.protocol,
    CAST(CASE WHEN better.weighted_average IS NOT NULL THEN better.n_better + 1 END AS BIGINT) AS rank,
    CAST(better.n_ranked AS BIGINT) AS n_ranked,
    CAST(better.n_collections AS BIGINT) AS n_collections,
    CAST(NULLIF(better.missing_collections, '') AS VARCHAR) AS missing_collections,
    CAST(better.weighted_average AS DOUBLE) AS mean_weighted_average,
    CAST(better.z_score AS DOUBLE) AS mean_z_score,
    CAST(better.mean_rank AS DOUBLE) AS mean_rank,
    ratings.rating,
    ratings.rating_low,
    ratings.rating_high,
    ratings.rank AS rating_rank,
    ratings.rank_low,
    ratings.rank_high,
    ratings.pool AS rating_pool,
    CAST(better.prompt_chars AS DOUBLE) AS mean_prompt_chars,
    CAST(better.response_chars AS DOUBLE) AS mean_response_chars
FROM better
LEFT JOIN ratings
    ON
        better.experiment = ratings.experiment
        AND better.split = ratings.split
        AND better.backbone = ratings.backbone
        AND better.baseline = ratings.baseline
        AND better.protocol = ratings.protocol
        AND ratings.collection IS NULL
