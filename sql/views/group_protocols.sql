-- group_protocols: result_groups with one row for each protocol that the group was scored by: the rows that the
--     group-level views have.
-- grain: group, protocol
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge. NULL, in the one row of the group, where it was
--     not scored at all.
-- column status: complete, partial, stale (the last good version is shown) or quarantined (there is no good version).
-- column validity: valid, suspect or invalid; NULL (unknown) where there are no responses to judge by.
-- column validity_reasons: Why the group is suspect or invalid.
-- column n_predictions: Number of responses; NULL where there is no predict.json.
-- column n_failed: Number of responses that failed: the runner's error text, empty or null.
-- column first_revision: The source's revision in which this content first appeared.
-- column relative_dir: The group's folder inside the archive.
WITH protocols AS (
    SELECT 'metrics' AS protocol
    UNION ALL
    SELECT 'llm_judge' AS protocol
)
SELECT
    result_groups.experiment,
    result_groups.backbone,
    result_groups.split,
    result_groups.collection,
    result_groups.baseline,
    result_groups.group_id,
    CAST(protocols.protocol AS VARCHAR) AS protocol,
    result_groups.status,
    result_groups.validity,
    result_groups.validity_reasons,
    result_groups.n_predictions,
    result_groups.n_failed,
    result_groups.first_revision,
    result_groups.relative_dir
FROM result_groups
LEFT JOIN protocols
    ON CONCAT(',', result_groups.protocols, ',') LIKE CONCAT('%,', protocols.protocol, ',%')
