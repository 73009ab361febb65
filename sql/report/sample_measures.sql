-- sample_measures: every number that evaluation published of a response.
-- title: Metrics
-- grain: sample, backbone, baseline, metric
-- chunk: sample
-- reason: kind
-- column sample: The sample's number in this report.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column metric: The metric's name as published.
-- column value: The value; true is 1 and false is 0.
-- column value_text: The exact value where no number holds it.
-- column kind: The JSON type as published.
SELECT
    samples.sample,
    measured.backbone,
    measured.baseline,
    measured.metric,
    measured.value,
    measured.value_text,
    measured.kind
FROM samples
INNER JOIN sample_metrics AS measured
    ON
        samples.experiment = measured.experiment
        AND samples.split = measured.split
        AND samples.collection = measured.collection
        AND samples.dataset = measured.dataset
        AND samples.test_idx = measured.test_idx
        AND samples.protocol IS NOT DISTINCT FROM measured.protocol
ORDER BY samples.sample, measured.backbone, measured.baseline, measured.position
