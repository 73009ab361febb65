-- changes_numbers: the published numbers that moved with the last refresh that moved any, numbers of whole groups and
--     the largest differences first, those that are no number last; of more than 1,000, the first 1,000.
-- title: Numbers that moved
-- grain: group, protocol, dataset_group, metric
-- chunk: none
-- reason: change
-- column new_refresh_id: The refresh that they moved with.
-- column experiment: How the system was run.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column backbone: The language model that answers.
-- column baseline: The memory system.
-- column dataset_group: The dataset; missing where the number is one of the whole group.
-- column metric: The published number.
-- column change: changed, added or removed.
-- column old_value: The number before; missing where it was not there, or no number.
-- column new_value: The number from then on; missing where it is not there, or no number.
-- column difference: new_value - old_value.
-- column old_text: What was published before and no number holds exactly; the table shows it in the place of the number.
-- column new_text: What is published from then on and no number holds exactly; shown likewise.
-- column n_in_all: How many numbers moved with that refresh.
SELECT
    revision_changes.new_refresh_id,
    revision_changes.experiment,
    revision_changes.protocol,
    revision_changes.split,
    revision_changes.collection,
    revision_changes.backbone,
    revision_changes.baseline,
    revision_changes.dataset_group,
    revision_changes.metric,
    revision_changes.change,
    revision_changes.old_value,
    revision_changes.new_value,
    revision_changes.difference,
    revision_changes.old_text,
    revision_changes.new_text,
    CAST(COUNT(*) OVER () AS BIGINT) AS n_in_all
FROM revision_changes
WHERE
    revision_changes.new_refresh_id = (
        SELECT MAX(latest.new_refresh_id) FROM revision_changes AS latest
    )
ORDER BY
    revision_changes.dataset_group IS NOT NULL,
    CASE WHEN NOT ISNAN(revision_changes.difference) THEN ABS(revision_changes.difference) END DESC NULLS LAST,
    revision_changes.group_id,
    revision_changes.protocol,
    revision_changes.dataset_group,
    revision_changes.metric
LIMIT 1000
