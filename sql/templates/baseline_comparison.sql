-- baseline_comparison{_all}: each pair of baselines in a collection, sample by sample: how often either has the better
--     published score. A sample is compared within its backbone; counts are summed over backbones. {invalid_groups}
-- grain: experiment, split, collection, protocol, baseline, other_baseline
-- column experiment: How the systems were run.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column baseline: The memory system that wins or loses; of a pair, the first by name.
-- column other_baseline: The memory system that it is compared with.
-- column n_backbones: Backbones on which both have a score of one sample.
-- column n_samples: Samples compared, those of each backbone for themselves.
-- column wins: Samples on which the score of baseline is higher by more than 1e-9; NULL where nothing was compared.
-- column ties: Samples on which the scores differ by no more than 1e-9.
-- column losses: Samples on which the score of baseline is lower by more than 1e-9.
-- column win_share: (wins + ties / 2) / n_samples.
-- column n_excluded: Backbones on which both were scored and one of them is left out.
-- column excluded: Which those are, and why; NULL where none.
WITH scores AS (
    SELECT
        systems.experiment,
        systems.backbone,
        systems.split,
        systems.collection,
        systems.baseline,
        systems.protocol,
        sample_scores.dataset,
        sample_scores.test_idx,
        sample_scores.score
    FROM comparable_groups{_all} AS systems
    INNER JOIN sample_scores
        ON
            systems.group_id = sample_scores.group_id
            AND systems.protocol = sample_scores.protocol
            AND systems.experiment = sample_scores.experiment
            AND systems.backbone = sample_scores.backbone
            AND systems.split = sample_scores.split
            AND systems.collection = sample_scores.collection
            AND systems.baseline = sample_scores.baseline
    WHERE
        systems.excluded IS NULL
        AND sample_scores.origin = 'published'
        AND ABS(sample_scores.score) <= 1.7976931348623157e308
),

compared AS (
    SELECT
        one.experiment,
        one.backbone,
        one.split,
        one.collection,
        one.protocol,
        one.baseline,
        other.baseline AS other_baseline,
        COUNT(*) AS n_samples,
        -- Half of each: the difference of two numbers may be too large for one.
        COUNT(*) FILTER (WHERE one.score / 2 - other.score / 2 > 5e-10) AS wins,
        COUNT(*) FILTER (WHERE other.score / 2 - one.score / 2 > 5e-10) AS losses
    FROM scores AS one
    INNER JOIN scores AS other
        ON
            one.experiment = other.experiment
            AND one.backbone = other.backbone
            AND one.split = other.split
            AND one.collection = other.collection
            AND one.protocol = other.protocol
            AND one.dataset = other.dataset
            AND one.test_idx = other.test_idx
            AND one.baseline < other.baseline
    GROUP BY
        one.experiment,
        one.backbone,
        one.split,
        one.collection,
        one.protocol,
        one.baseline,
        other.baseline
),

pairs AS (
    SELECT
        one.experiment,
        one.backbone,
        one.split,
        one.collection,
        one.protocol,
        one.baseline,
        other.baseline AS other_baseline,
        CASE
            WHEN one.excluded IS NOT NULL
                THEN CONCAT(one.backbone, ' (', one.baseline, ' ', one.excluded, ')')
            WHEN other.excluded IS NOT NULL
                THEN CONCAT(one.backbone, ' (', other.baseline, ' ', other.excluded, ')')
        END AS excluded
    FROM comparable_groups{_all} AS one
    INNER JOIN comparable_groups{_all} AS other
        ON
            one.experiment = other.experiment
            AND one.backbone = other.backbone
            AND one.split = other.split
            AND one.collection = other.collection
            AND one.protocol = other.protocol
            AND one.baseline < other.baseline
)

SELECT
    pairs.experiment,
    pairs.split,
    pairs.collection,
    pairs.protocol,
    pairs.baseline,
    pairs.other_baseline,
    CAST(COUNT(compared.n_samples) AS BIGINT) AS n_backbones,
    CAST(COALESCE(SUM(compared.n_samples), 0) AS BIGINT) AS n_samples,
    CAST(SUM(compared.wins) AS BIGINT) AS wins,
    CAST(SUM(compared.n_samples - compared.wins - compared.losses) AS BIGINT) AS ties,
    CAST(SUM(compared.losses) AS BIGINT) AS losses,
    CAST(
        SUM(compared.n_samples + compared.wins - compared.losses) / CAST(2 * SUM(compared.n_samples) AS DOUBLE) AS DOUBLE
    ) AS win_share,
    CAST(COUNT(pairs.excluded) AS BIGINT) AS n_excluded,
    CAST(
        NULLIF(ARRAY_TO_STRING(LIST_SORT(LIST(pairs.excluded) FILTER (WHERE pairs.excluded IS NOT NULL)), ', '), '')
        AS VARCHAR
    ) AS excluded
FROM pairs
LEFT JOIN compared
    ON
        pairs.experiment = compared.experiment
        AND pairs.backbone = compared.backbone
        AND pairs.split = compared.split
        AND pairs.collection = compared.collection
        AND pairs.protocol = compared.protocol
        AND pairs.baseline = compared.baseline
        AND pairs.other_baseline = compared.other_baseline
GROUP BY
    pairs.experiment,
    pairs.split,
    pairs.collection,
    pairs.protocol,
    pairs.baseline,
    pairs.other_baseline
