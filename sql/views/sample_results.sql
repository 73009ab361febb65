-- sample_results: one row for each sample and protocol of a group, its score beside its response. A sample that was
--     not scored has a row without a score; a score of which it is not known whose it is has a row without a sample.
-- grain: group, protocol, sample
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How the response was scored: metrics or llm_judge. A sample scored by both has two rows; one that
--     was not evaluated at all has one row with NULL.
-- column dataset_group: The dataset with Locomo-0..9 folded into Locomo.
-- column dataset: The dataset as published; NULL where it is not known whose score it is, because the published
--     scores and the evaluated samples differ in number.
-- column test_idx: The sample's index inside its dataset; NULL where dataset is.
-- column score_position: The score's place in its dataset group, from 0; NULL where there is no score.
-- column score: The score as published; NULL where null or text is published, a judge call failed, or there is none.
-- column score_counted: What the publisher's means count: the score, with null and text as 0. NULL where nothing is
--     published.
-- column minmax_score: score_counted between the publisher's smallest (0) and largest (1) score, as in
--     normalized_scores. Compares inside one split and collection only.
-- column z: score_counted in standard deviations from the publisher's mean, as in normalized_scores.
-- column is_finite: Whether score_counted is a finite number; NULL where it is NULL.
-- column origin: published: from summary.details; derived: the dataset's main metric, as there are no details; NULL
--     where there is no score.
-- column failed: The generation or the judge call failed; NULL where that is unknown.
-- column failed_generation: The response is the runner's error text, empty or null; NULL where there is no
--     prediction.
-- column out_of_scale: The score lies outside the dataset's published range; NULL where score or range is unknown.
-- column response: The answer, as published; NULL where null is published or there is no prediction.
-- column response_chars: Length of the response in characters.
-- column prompt_chars: Total length of the messages' contents in characters.
-- column n_messages: Number of messages in the prompt.
WITH judged AS (
    SELECT
        scores.experiment,
        scores.backbone,
        scores.split,
        scores.collection,
        scores.baseline,
        scores.group_id,
        scores.protocol,
        scores.dataset_group,
        scores.dataset,
        scores.test_idx,
        scores.position AS score_position,
        scores.score,
        scores.score_counted,
        scores.minmax_score,
        scores.z,
        scores.is_finite,
        scores.origin,
        scores.failed,
        scores.out_of_scale
    FROM normalized_scores AS scores
    UNION ALL
    -- Evaluated, and yet without a score of its own.
    SELECT
        evaluations.experiment,
        evaluations.backbone,
        evaluations.split,
        evaluations.collection,
        evaluations.baseline,
        evaluations.group_id,
        evaluations.protocol,
        COALESCE(datasets.dataset_group, evaluations.dataset) AS dataset_group,
        evaluations.dataset,
        evaluations.test_idx,
        CAST(NULL AS BIGINT) AS score_position,
        CAST(NULL AS DOUBLE) AS score,
        CAST(NULL AS DOUBLE) AS score_counted,
        CAST(NULL AS DOUBLE) AS minmax_score,
        CAST(NULL AS DOUBLE) AS z,
        CAST(NULL AS BOOLEAN) AS is_finite,
        CAST(NULL AS VARCHAR) AS origin,
        CAST(NULL AS BOOLEAN) AS failed,
        CAST(NULL AS BOOLEAN) AS out_of_scale
    FROM evaluations
    LEFT JOIN datasets
        ON evaluations.dataset = datasets.dataset
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM sample_scores
            WHERE
                sample_scores.group_id = evaluations.group_id
                AND sample_scores.protocol = evaluations.protocol
                AND sample_scores.dataset = evaluations.dataset
                AND sample_scores.test_idx = evaluations.test_idx
        )
)
SELECT
    judged.experiment,
    judged.backbone,
    judged.split,
    judged.collection,
    judged.baseline,
    judged.group_id,
    judged.protocol,
    judged.dataset_group,
    judged.dataset,
    judged.test_idx,
    judged.score_position,
    judged.score,
    judged.score_counted,
    judged.minmax_score,
    judged.z,
    judged.is_finite,
    judged.origin,
    COALESCE(judged.failed, predictions.failed_generation) AS failed,
    predictions.failed_generation,
    judged.out_of_scale,
    predictions.response,
    predictions.response_chars,
    predictions.prompt_chars,
    predictions.n_messages
FROM judged
LEFT JOIN predictions
    ON
        judged.group_id = predictions.group_id
        AND judged.dataset = predictions.dataset
        AND judged.test_idx = predictions.test_idx
UNION ALL
-- Answered, and not evaluated under any protocol.
SELECT
    predictions.experiment,
    predictions.backbone,
    predictions.split,
    predictions.collection,
    predictions.baseline,
    predictions.group_id,
    CAST(NULL AS VARCHAR) AS protocol,
    COALESCE(datasets.dataset_group, predictions.dataset) AS dataset_group,
    predictions.dataset,
    predictions.test_idx,
    CAST(NULL AS BIGINT) AS score_position,
    CAST(NULL AS DOUBLE) AS score,
    CAST(NULL AS DOUBLE) AS score_counted,
    CAST(NULL AS DOUBLE) AS minmax_score,
    CAST(NULL AS DOUBLE) AS z,
    CAST(NULL AS BOOLEAN) AS is_finite,
    CAST(NULL AS VARCHAR) AS origin,
    predictions.failed_generation AS failed,
    predictions.failed_generation,
    CAST(NULL AS BOOLEAN) AS out_of_scale,
    predictions.response,
    predictions.response_chars,
    predictions.prompt_chars,
    predictions.n_messages
FROM predictions
LEFT JOIN datasets
    ON predictions.dataset = datasets.dataset
WHERE
    NOT EXISTS (
        SELECT 1
        FROM evaluations
        WHERE
            evaluations.group_id = predictions.group_id
            AND evaluations.dataset = predictions.dataset
            AND evaluations.test_idx = predictions.test_idx
    )
    AND NOT EXISTS (
        SELECT 1
        FROM sample_scores
        WHERE
            sample_scores.group_id = predictions.group_id
            AND sample_scores.dataset = predictions.dataset
            AND sample_scores.test_idx = predictions.test_idx
    )
