-- samples: the samples that the browser shows: of each dataset in each collection the three whose scores differ most
--     between valid systems, and three drawn by the digest of their names, which nobody chose.
-- title: Samples
-- grain: experiment, protocol, split, collection, dataset, test_idx
-- chunk: none
-- reason: why_no_spread
-- column sample: The sample's number in this report, from 1.
-- column experiment: How the systems were run.
-- column protocol: How responses were scored: metrics or llm_judge; missing where they were not.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column dataset_group: The dataset, Locomo-0..9 as one.
-- column dataset: The sample's dataset.
-- column test_idx: The sample's index inside its dataset.
-- column chosen: differs: one of the three with the largest spread; drawn: one of the three that were drawn; both.
-- column n_systems: Systems that answered it.
-- column n_scores: Valid systems with a score of it.
-- column n_derived: Scores of n_scores that are not published but derived: the dataset's main metric.
-- column lowest: The lowest score of a valid system, in the dataset's own unit.
-- column highest: The highest score of a valid system.
-- column spread: highest - lowest.
-- column why_no_spread: Why there is no spread.
WITH answers AS (
    SELECT
        sample_results.experiment,
        sample_results.protocol,
        sample_results.split,
        sample_results.collection,
        sample_results.dataset_group,
        sample_results.dataset,
        sample_results.test_idx,
        CASE
            WHEN coverage.validity = 'invalid' OR ABS(sample_results.score) > 1e150 OR ISNAN(sample_results.score)
                THEN NULL
            ELSE sample_results.score
        END AS score,
        sample_results.origin
    FROM sample_results
    INNER JOIN coverage
        ON sample_results.group_id = coverage.group_id
    WHERE sample_results.dataset IS NOT NULL
),

candidates AS (
    SELECT
        answers.experiment,
        answers.protocol,
        answers.split,
        answers.collection,
        answers.dataset_group,
        answers.dataset,
        answers.test_idx,
        COUNT(*) AS n_systems,
        COUNT(answers.score) AS n_scores,
        COUNT(answers.score) FILTER (WHERE answers.origin = 'derived') AS n_derived,
        MIN(answers.score) AS lowest,
        MAX(answers.score) AS highest,
        CASE WHEN COUNT(answers.score) >= 2 THEN MAX(answers.score) - MIN(answers.score) END AS spread
    FROM answers
    GROUP BY
        answers.experiment,
        answers.protocol,
        answers.split,
        answers.collection,
        answers.dataset_group,
        answers.dataset,
        answers.test_idx
),

placed AS (
    SELECT
        candidates.experiment,
        candidates.protocol,
        candidates.split,
        candidates.collection,
        candidates.dataset_group,
        candidates.dataset,
        candidates.test_idx,
        candidates.n_systems,
        candidates.n_scores,
        candidates.n_derived,
        candidates.lowest,
        candidates.highest,
        candidates.spread,
        candidates.spread > 1e-9 AND ROW_NUMBER() OVER (
            PARTITION BY
                candidates.experiment,
                candidates.protocol,
                candidates.split,
                candidates.collection,
                candidates.dataset_group
            ORDER BY candidates.spread DESC NULLS LAST, candidates.dataset, candidates.test_idx
        ) <= 3 AS differs,
        ROW_NUMBER() OVER (
            PARTITION BY
                candidates.experiment,
                candidates.protocol,
                candidates.split,
                candidates.collection,
                candidates.dataset_group
            ORDER BY
                MD5(CONCAT('memorybench|', candidates.dataset, '|', CAST(candidates.test_idx AS VARCHAR))),
                candidates.dataset,
                candidates.test_idx
        ) <= 3 AS drawn
    FROM candidates
)

SELECT
    CAST(ROW_NUMBER() OVER (
        ORDER BY
            placed.experiment,
            placed.protocol NULLS LAST,
            placed.split,
            placed.collection,
            placed.dataset_group,
            placed.dataset,
            placed.test_idx
    ) AS BIGINT) AS sample,
    placed.experiment,
    placed.protocol,
    placed.split,
    placed.collection,
    placed.dataset_group,
    placed.dataset,
    placed.test_idx,
    CAST(
        CASE
            WHEN placed.differs AND placed.drawn THEN 'both'
            WHEN placed.differs THEN 'differs'
            ELSE 'drawn'
        END AS VARCHAR
    ) AS chosen,
    CAST(placed.n_systems AS BIGINT) AS n_systems,
    CAST(placed.n_scores AS BIGINT) AS n_scores,
    CAST(placed.n_derived AS BIGINT) AS n_derived,
    placed.lowest,
    placed.highest,
    placed.spread,
    CAST(
        CASE
            WHEN placed.spread IS NOT NULL THEN NULL
            WHEN placed.n_scores = 0 THEN 'no valid system has a score of it'
            ELSE 'one valid system alone has a score of it'
        END AS VARCHAR
    ) AS why_no_spread
FROM placed
WHERE placed.differs OR placed.drawn
ORDER BY sample
