-- overview_coverage: every system in every collection: published or not, complete or not, valid or not.
-- title: What is published, and what is not
-- grain: experiment, backbone, split, collection, baseline
-- chunk: none
-- reason: status
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column status: complete, partial, stale, quarantined, invalid or not_published.
-- column has_predictions: Whether there are responses; a group with a summary and no responses is published numbers
--     alone.
-- column has_summary: Whether there are published numbers of the group.
-- column validity: valid, suspect or invalid; missing (unknown) where there are no responses to judge by.
-- column validity_reasons: Why the group is suspect or invalid.
-- column protocols: The protocols that the group was scored by.
-- column n_predictions: Number of responses.
-- column n_scores: Number of scores, all protocols together.
SELECT
    coverage.experiment,
    coverage.backbone,
    coverage.baseline,
    coverage.split,
    coverage.collection,
    coverage.status,
    coverage.has_predictions,
    coverage.has_summary,
    coverage.validity,
    coverage.validity_reasons,
    coverage.protocols,
    coverage.n_predictions,
    coverage.n_scores
FROM coverage
ORDER BY coverage.experiment, coverage.split, coverage.collection, coverage.backbone, coverage.baseline
