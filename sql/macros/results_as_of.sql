-- results_as_of(revision): the published numbers of each group as an earlier revision of the source had them. Groups
--     that had no published number are not in it.
-- grain: group, protocol
-- parameter revision: The source's revision as refreshes has it, or its beginning; it has to be that of a refresh. Of
--     several refreshes of one revision the last counts.
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge. Numbers of different protocols do not compare.
-- column average: The unweighted mean over datasets of the mean min-max score; NULL where it was not published.
-- column weighted_average: The mean min-max score over all samples; NULL where it was not published.
-- column z_score: The mean z over all samples; NULL where it was not published.
-- column refresh_id: The refresh that read the revision.
-- column revision: The revision in full.
WITH as_of AS (
    SELECT
        CASE COUNT(DISTINCT refreshes.revision)
            WHEN 1 THEN MAX(refreshes.refresh_id)
            WHEN 0
                THEN ERROR(CONCAT('no refresh of this warehouse read revision ', revision, '; see the table refreshes'))
            ELSE ERROR(CONCAT('several revisions begin with ', revision, '; write more of it'))
        END AS refresh_id,
        MAX(refreshes.revision) AS revision
    FROM refreshes
    WHERE STARTS_WITH(refreshes.revision, revision)
)

SELECT
    published_history.experiment,
    published_history.backbone,
    published_history.split,
    published_history.collection,
    published_history.baseline,
    published_history.group_id,
    published_history.protocol,
    MAX(CASE WHEN published_history.metric = 'average' THEN published_history.value END) AS average,
    MAX(CASE WHEN published_history.metric = 'weighted_average' THEN published_history.value END) AS weighted_average,
    MAX(CASE WHEN published_history.metric = 'z_score' THEN published_history.value END) AS z_score,
    as_of.refresh_id,
    as_of.revision
FROM as_of
INNER JOIN published_history
    ON
        as_of.refresh_id >= published_history.valid_from
        AND (published_history.valid_to IS NULL OR as_of.refresh_id < published_history.valid_to)
WHERE published_history.dataset_group IS NULL
GROUP BY
    published_history.experiment,
    published_history.backbone,
    published_history.split,
    published_history.collection,
    published_history.baseline,
    published_history.group_id,
    published_history.protocol,
    as_of.refresh_id,
    as_of.revision
