-- collection_rankings{_all}: the systems of a collection, ranked by the published weighted_average, beside their rating,
--     which has an interval and bounds for the rank. {invalid_groups} Ratings are of valid groups only, always.
-- grain: group, protocol
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge; each is ranked for itself.
-- column rank: 1 + the number of systems whose weighted_average is higher by more than 1e-9, so that ties share a rank;
--     over all backbones. NULL where the system is not ranked.
-- column n_ranked: Number of systems ranked in the collection.
-- column weighted_average: The published mean min-max score; NULL where an invalid group is left out, and where none is
--     published or it is not finite. Outside of 0 to 1, where no such mean can be, it stands here and is not ranked.
-- column z_score: The published mean z; NULL where the system is not ranked, and where none is published or it is not
--     finite.
-- column rating: Bradley-Terry rating from sample-by-sample comparisons, 1000 being the pool's mean; NULL where not
--     rated.
-- column rating_low: Lower end of the rating's 95 % interval; NULL where not rated, and where rating_pool says that
--     there is no interval.
-- column rating_high: Upper end of it.
-- column rating_rank: Rank by rating.
-- column rank_low: The best rank by rating that the intervals allow; NULL without an interval.
-- column rank_high: The worst rank by rating that the intervals allow; NULL without an interval.
-- column rating_pool: What the system was rated against and, where so, why there is no interval; or why it was not
--     rated.
-- column excluded: Why the system is not ranked; NULL where it is.
WITH z_scores AS (
    SELECT
        summary_metrics.group_id,
        summary_metrics.protocol,
        MAX(summary_metrics.value) AS z_score
    FROM summary_metrics
    WHERE summary_metrics.metric = 'z_score'
    GROUP BY
        summary_metrics.group_id,
        summary_metrics.protocol
),

judged AS (
    SELECT
        comparable.experiment,
        comparable.backbone,
        comparable.split,
        comparable.collection,
        comparable.baseline,
        comparable.group_id,
        comparable.protocol,
        CASE WHEN comparable.excluded IS NULL AND published.is_finite THEN published.value END AS weighted_average,
        COALESCE(comparable.excluded, published.excluded) AS excluded
    FROM comparable_groups{_all} AS comparable
    INNER JOIN published_means AS published
        ON
            comparable.group_id = published.group_id
            AND comparable.protocol = published.protocol
            AND published.metric = 'weighted_average'
),

systems AS (
    SELECT
        judged.experiment,
        judged.backbone,
        judged.split,
        judged.collection,
        judged.baseline,
        judged.group_id,
        judged.protocol,
        judged.weighted_average,
        -- What ranks are of.
        CASE WHEN judged.excluded IS NULL THEN judged.weighted_average END AS ranked_value,
        CASE WHEN ABS(z_scores.z_score) <= 1.7976931348623157e308 THEN z_scores.z_score END AS z_score,
        judged.excluded
    FROM judged
    LEFT JOIN z_scores
        ON
            judged.group_id = z_scores.group_id
            AND judged.protocol = z_scores.protocol
            AND judged.excluded IS NULL
),

better AS (
    SELECT
        systems.experiment,
        systems.backbone,
        systems.split,
        systems.collection,
        systems.baseline,
        systems.group_id,
        systems.protocol,
        systems.weighted_average,
        systems.ranked_value,
        systems.z_score,
        systems.excluded,
        COUNT(systems.ranked_value) OVER (
            PARTITION BY systems.experiment, systems.split, systems.collection, systems.protocol
        ) AS n_ranked,
        -- Without a value a system is in a partition of its own kind, so that it is better than nobody.
        COUNT(systems.ranked_value) OVER (
            PARTITION BY
                systems.experiment,
                systems.split,
                systems.collection,
                systems.protocol,
                systems.ranked_value IS NULL
            ORDER BY systems.ranked_value DESC
            RANGE BETWEEN UNBOUNDED PRECEDING AND CAST(1e-9 AS DOUBLE) PRECEDING
        ) AS n_better
    FROM systems
)

SELECT
    better.experiment,
    better.backbone,
    better.split,
    better.collection,
    better.baseline,
    better.group_id,
    better.protocol,
    CAST(CASE WHEN better.ranked_value IS NOT NULL THEN better.n_better + 1 END AS BIGINT) AS rank,
    CAST(better.n_ranked AS BIGINT) AS n_ranked,
    better.weighted_average,
    better.z_score,
    ratings.rating,
    ratings.rating_low,
    ratings.rating_high,
    ratings.rank AS rating_rank,
    ratings.rank_low,
    ratings.rank_high,
    ratings.pool AS rating_pool,
    better.excluded
FROM better
LEFT JOIN ratings
    ON
        better.experiment = ratings.experiment
        AND better.split = ratings.split
        AND better.collection = ratings.collection
        AND better.backbone = ratings.backbone
        AND better.baseline = ratings.baseline
        AND better.protocol = ratings.protocol
