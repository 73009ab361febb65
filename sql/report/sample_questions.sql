-- sample_questions: what was asked: the end of the prompt without memory, or of the first system where there is none.
-- title: Questions
-- grain: sample
-- chunk: none
-- reason: none
-- column sample: The sample's number in this report.
-- column backbone: The backbone of the prompt.
-- column baseline: The memory system of the prompt.
-- column question: The prompt's last message, or its end.
WITH placed AS (
    SELECT
        sample_prompts.sample,
        sample_prompts.backbone,
        sample_prompts.baseline,
        COALESCE(sample_prompts.content_end, sample_prompts.content) AS question,
        ROW_NUMBER() OVER (
            PARTITION BY sample_prompts.sample
            ORDER BY sample_prompts.baseline <> 'wo_memory', sample_prompts.baseline
        ) AS place
    FROM sample_prompts
)

SELECT
    placed.sample,
    placed.backbone,
    placed.baseline,
    placed.question
FROM placed
WHERE placed.place = 1
ORDER BY placed.sample
