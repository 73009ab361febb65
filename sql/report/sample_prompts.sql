-- sample_prompts: the prompts of one backbone, in which all systems got the same question: of the last message, if it
--     has more than 2,500 characters, the first 1,000 and the last 1,500.
-- title: Prompts
-- grain: sample, backbone, baseline
-- chunk: sample
-- reason: none
-- column sample: The sample's number in this report.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column role: Who speaks in the prompt's last message.
-- column content: That message, or its beginning.
-- column content_end: The end of a message that is not shown whole.
-- column content_chars: Its length in characters.
WITH {shown_backbones}

SELECT
    samples.sample,
    prompts.backbone,
    prompts.baseline,
    prompts.messages[-1].role AS role,
    CASE
        WHEN LENGTH(prompts.messages[-1].content) > 2500 THEN LEFT(prompts.messages[-1].content, 1000)
        ELSE prompts.messages[-1].content
    END AS content,
    CASE
        WHEN LENGTH(prompts.messages[-1].content) > 2500 THEN RIGHT(prompts.messages[-1].content, 1500)
    END AS content_end,
    CAST(LENGTH(prompts.messages[-1].content) AS BIGINT) AS content_chars
FROM samples
INNER JOIN prompts AS prompts
    ON
        samples.experiment = prompts.experiment
        AND samples.split = prompts.split
        AND samples.collection = prompts.collection
        AND samples.dataset = prompts.dataset
        AND samples.test_idx = prompts.test_idx
INNER JOIN shown_backbones
    ON
        prompts.experiment = shown_backbones.experiment
        AND prompts.split = shown_backbones.split
        AND prompts.collection = shown_backbones.collection
        AND prompts.backbone = shown_backbones.backbone
ORDER BY samples.sample, prompts.backbone, prompts.baseline
