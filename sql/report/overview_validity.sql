-- overview_validity: the groups that should not be read without a second look.
-- title: Validity warnings
-- grain: group
-- chunk: none
-- reason: none
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column validity: invalid: left out of rankings, ratings and gains; suspect: in them, to be read with care.
-- column validity_reasons: Why.
-- column n_predictions: Number of responses.
-- column n_failed: Number of responses that failed.
SELECT
    results.experiment,
    results.backbone,
    results.baseline,
    results.split,
    results.collection,
    results.validity,
    results.validity_reasons,
    MAX(results.n_predictions) AS n_predictions,
    MAX(results.n_failed) AS n_failed
FROM results
WHERE results.validity <> 'valid'
GROUP BY
    results.experiment,
    results.backbone,
    results.baseline,
    results.split,
    results.collection,
    results.validity,
    results.validity_reasons
ORDER BY
    results.validity, results.experiment, results.split, results.collection, results.backbone, results.baseline
