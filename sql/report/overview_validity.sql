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
-- column validity: invalid: left out of rankings, ratings and gains; suspect: in them, to be read with care. Valid, or
--     missing (unknown) as there are no responses to judge by, where it is a published mean alone that cannot be.
-- column validity_reasons: Why, and which published means are outside of 0 to 1, by which nothing is ranked.
-- column n_predictions: Number of responses.
-- column n_failed: Number of responses that failed.
WITH out_of_range AS (
    SELECT
        published_means.group_id,
        STRING_AGG(DISTINCT published_means.excluded, '; ' ORDER BY published_means.excluded) AS reasons
    FROM published_means
    WHERE published_means.is_out_of_range
    GROUP BY published_means.group_id
)

SELECT
    results.experiment,
    results.backbone,
    results.baseline,
    results.split,
    results.collection,
    results.validity,
    CAST(CONCAT_WS('; ', results.validity_reasons, out_of_range.reasons) AS VARCHAR) AS validity_reasons,
    MAX(results.n_predictions) AS n_predictions,
    MAX(results.n_failed) AS n_failed
FROM results
LEFT JOIN out_of_range
    ON results.group_id = out_of_range.group_id
WHERE
    results.validity <> 'valid'
    OR out_of_range.reasons IS NOT NULL
GROUP BY
    results.experiment,
    results.backbone,
    results.baseline,
    results.split,
    results.collection,
    results.validity,
    results.validity_reasons,
    out_of_range.reasons
ORDER BY
    results.validity NULLS LAST,
    results.experiment,
    results.split,
    results.collection,
    results.backbone,
    results.baseline
