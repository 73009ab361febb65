-- sample_notes: what evaluation published of a response that is no number: gold answers, reasons, checklists; of a text
--     of more than 1,000 characters, the first 1,000.
-- title: Notes of the evaluation
-- grain: sample, backbone, baseline, name
-- chunk: sample
-- reason: none
-- column sample: The sample's number in this report.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column name: The key inside metrics.
-- column value: The text, or JSON text of a list or an object.
-- column value_chars: Its length in characters.
SELECT
    samples.sample,
    noted.backbone,
    noted.baseline,
    noted.name,
    LEFT(noted.value, 1000) AS value,
    CAST(LENGTH(noted.value) AS BIGINT) AS value_chars
FROM samples
INNER JOIN sample_annotations AS noted
    ON
        samples.experiment = noted.experiment
        AND samples.split = noted.split
        AND samples.collection = noted.collection
        AND samples.dataset = noted.dataset
        AND samples.test_idx = noted.test_idx
        AND samples.protocol IS NOT DISTINCT FROM noted.protocol
ORDER BY samples.sample, noted.backbone, noted.baseline, noted.position
