-- coverage: what is published and what is not: every combination of a system that the archive names in an experiment
--     with every collection that it names there.
-- grain: experiment, backbone, split, collection, baseline
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'; NULL where not published.
-- column status: not_published: the archive does not name the group; invalid: its numbers mean nothing, whatever
--     else; else as in load_status.
-- column load_status: complete: every file that the archive names for the group is loaded, be it a summary alone, so
--     that it is the columns has_ that say what there is; partial: a named file is not there; stale: the last good
--     version is shown; quarantined: there is no good version. NULL where not published.
-- column has_predictions: Whether there are responses, from predict.json.
-- column has_evaluations: Whether there are evaluated samples, from evaluate_details.json.
-- column has_summary: Whether there are published numbers of the group, from summary.json.
-- column protocols: The protocols that the group was scored by, joined by ','; NULL where by none.
-- column n_predictions: Number of responses; NULL where there is no predict.json.
-- column n_evaluations: Number of records in evaluate_details.json; NULL where that file is not there.
-- column n_scores: Number of scores, all protocols together; NULL where nothing is loaded.
-- column validity: valid, suspect or invalid; NULL (unknown) where there are no responses to judge by.
-- column validity_reasons: Why the group is suspect or invalid.
WITH backbones AS (
    SELECT DISTINCT
        result_groups.experiment,
        result_groups.backbone
    FROM result_groups
),

collections AS (
    SELECT DISTINCT
        result_groups.experiment,
        result_groups.split,
        result_groups.collection
    FROM result_groups
),

systems AS (
    SELECT DISTINCT
        result_groups.experiment,
        result_groups.baseline
    FROM result_groups
),

evaluated AS (
    SELECT DISTINCT evaluations.group_id
    FROM evaluations
),

summarized AS (
    SELECT DISTINCT summary_metrics.group_id
    FROM summary_metrics
)

SELECT
    backbones.experiment,
    backbones.backbone,
    collections.split,
    collections.collection,
    systems.baseline,
    result_groups.group_id,
    CAST(
        CASE
            WHEN result_groups.group_id IS NULL THEN 'not_published'
            WHEN result_groups.validity = 'invalid' THEN 'invalid'
            ELSE result_groups.status
        END AS VARCHAR
    ) AS status,
    result_groups.status AS load_status,
    COALESCE(result_groups.n_predictions > 0, FALSE) AS has_predictions,
    evaluated.group_id IS NOT NULL AS has_evaluations,
    summarized.group_id IS NOT NULL AS has_summary,
    result_groups.protocols,
    result_groups.n_predictions,
    result_groups.n_evaluations,
    result_groups.n_scores,
    result_groups.validity,
    result_groups.validity_reasons
FROM backbones
INNER JOIN collections
    ON backbones.experiment = collections.experiment
INNER JOIN systems
    ON backbones.experiment = systems.experiment
LEFT JOIN result_groups
    ON
        backbones.experiment = result_groups.experiment
        AND backbones.backbone = result_groups.backbone
        AND collections.split = result_groups.split
        AND collections.collection = result_groups.collection
        AND systems.baseline = result_groups.baseline
LEFT JOIN evaluated
    ON result_groups.group_id = evaluated.group_id
LEFT JOIN summarized
    ON result_groups.group_id = summarized.group_id
