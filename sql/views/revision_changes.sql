-- revision_changes: every published number that moved from one refresh to the next: changed, added or removed. What the
--     first refresh of the warehouse found is no change. A number that is the same again later is added anew.
-- grain: group, protocol, dataset_group, metric, new_refresh_id
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column dataset_group: The dataset, Locomo-0..9 as one; NULL where the number is one of the whole group.
-- column metric: The key inside `summary`, or a column of summary_datasets.
-- column change: changed, added or removed.
-- column old_value: The number before; NULL where it was not there, or no number.
-- column new_value: The number from then on; NULL where it is not there, or no number.
-- column difference: new_value - old_value.
-- column old_text: What was published before and no number holds exactly.
-- column new_text: What is published from then on and no number holds exactly.
-- column old_revision: The source's revision at old_refresh_id.
-- column new_revision: The source's revision at new_refresh_id.
-- column old_refresh_id: The last refresh before it moved.
-- column new_refresh_id: The refresh that it moved with.
WITH refresh_pairs AS (
    SELECT
        refreshes.refresh_id AS new_refresh_id,
        refreshes.revision AS new_revision,
        LAG(refreshes.refresh_id) OVER (ORDER BY refreshes.refresh_id) AS old_refresh_id,
        LAG(refreshes.revision) OVER (ORDER BY refreshes.refresh_id) AS old_revision
    FROM refreshes
)
SELECT
    COALESCE(started.experiment, ended.experiment) AS experiment,
    COALESCE(started.backbone, ended.backbone) AS backbone,
    COALESCE(started.split, ended.split) AS split,
    COALESCE(started.collection, ended.collection) AS collection,
    COALESCE(started.baseline, ended.baseline) AS baseline,
    COALESCE(started.group_id, ended.group_id) AS group_id,
    COALESCE(started.protocol, ended.protocol) AS protocol,
    COALESCE(started.dataset_group, ended.dataset_group) AS dataset_group,
    COALESCE(started.metric, ended.metric) AS metric,
    CAST(
        CASE
            WHEN started.group_id IS NULL THEN 'removed'
            WHEN ended.group_id IS NULL THEN 'added'
            ELSE 'changed'
        END AS VARCHAR
    ) AS change,
    ended.value AS old_value,
    started.value AS new_value,
    CAST(started.value - ended.value AS DOUBLE) AS difference,
    ended.value_text AS old_text,
    started.value_text AS new_text,
    refresh_pairs.old_revision,
    refresh_pairs.new_revision,
    refresh_pairs.old_refresh_id,
    refresh_pairs.new_refresh_id
FROM published_history AS started
FULL JOIN (
    SELECT
        published_history.experiment,
        published_history.backbone,
        published_history.split,
        published_history.collection,
        published_history.baseline,
        published_history.group_id,
        published_history.protocol,
        published_history.dataset_group,
        published_history.metric,
        published_history.valid_to,
        published_history.value,
        published_history.value_text
    FROM published_history
    WHERE published_history.valid_to IS NOT NULL
) AS ended
    ON
        started.group_id = ended.group_id
        AND started.protocol = ended.protocol
        AND started.dataset_group IS NOT DISTINCT FROM ended.dataset_group
        AND started.metric = ended.metric
        AND started.valid_from = ended.valid_to
INNER JOIN refresh_pairs
    ON COALESCE(started.valid_from, ended.valid_to) = refresh_pairs.new_refresh_id
WHERE refresh_pairs.old_refresh_id IS NOT NULL
