-- sample_responses: what each system answered to a sample and how that was scored. Of a response of more than 3,000
--     characters, the first 2,000 and the last 1,000.
-- title: Responses
-- grain: sample, backbone, baseline
-- chunk: sample
-- reason: why_not
-- column sample: The sample's number in this report.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column score: The score, in the dataset's own unit.
-- column minmax_score: The score between the publisher's smallest (0) and largest (1) one.
-- column z: The score in standard deviations from the publisher's mean.
-- column origin: published: the score of summary.details; derived: the dataset's main metric, as there are no details;
--     missing where there is no score.
-- column failed: The generation or the judge call failed.
-- column validity: Of the whole group: valid, suspect or invalid.
-- column response: The response, or its beginning.
-- column response_end: The end of a response that is not shown whole.
-- column response_chars: Its length in characters.
-- column prompt_chars: Length of the prompt in characters.
-- column n_messages: Number of messages in the prompt.
-- column why_not: Why there is no score.
SELECT
    samples.sample,
    answers.backbone,
    answers.baseline,
    answers.score,
    answers.minmax_score,
    answers.z,
    answers.origin,
    answers.failed,
    coverage.validity,
    CASE WHEN answers.response_chars > 3000 THEN LEFT(answers.response, 2000) ELSE answers.response END AS response,
    CASE WHEN answers.response_chars > 3000 THEN RIGHT(answers.response, 1000) END AS response_end,
    answers.response_chars,
    answers.prompt_chars,
    answers.n_messages,
    CAST(
        CASE
            WHEN answers.score IS NOT NULL THEN NULL
            WHEN answers.protocol IS NULL THEN 'the sample was not evaluated'
            WHEN answers.failed THEN 'the generation or the judge call failed'
            ELSE 'no score is published'
        END AS VARCHAR
    ) AS why_not
FROM samples
INNER JOIN sample_results AS answers
    ON
        samples.experiment = answers.experiment
        AND samples.split = answers.split
        AND samples.collection = answers.collection
        AND samples.dataset = answers.dataset
        AND samples.test_idx = answers.test_idx
        AND samples.protocol IS NOT DISTINCT FROM answers.protocol
INNER JOIN coverage
    ON answers.group_id = coverage.group_id
ORDER BY samples.sample, answers.backbone, answers.baseline
