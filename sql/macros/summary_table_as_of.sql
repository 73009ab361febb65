-- summary_table_as_of(metric, revision): the published summary table of a metric as an earlier revision of the source
--     had it, a row for each cell. With a column for each baseline: PIVOT (SELECT backbone, split, collection, protocol,
--     baseline, value FROM summary_table_as_of('z_score', '1f0c2ab')) ON baseline USING FIRST(value).
-- grain: experiment, backbone, split, collection, protocol, baseline
-- parameter metric: The key inside `summary`, such as weighted_average.
-- parameter revision: The source's revision as refreshes has it, or its beginning; it has to be that of a refresh. Of
--     several refreshes of one revision the last counts.
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column protocol: How responses were scored: metrics or llm_judge. Numbers of different protocols do not compare.
-- column baseline: The memory system.
-- column value: The published number; NULL where it was published and is no number.
-- column value_text: What was published and no number holds exactly; NULL where value says all.
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
    published_history.protocol,
    published_history.baseline,
    published_history.value,
    published_history.value_text,
    as_of.refresh_id,
    as_of.revision
FROM as_of
INNER JOIN published_history
    ON
        as_of.refresh_id >= published_history.valid_from
        AND (published_history.valid_to IS NULL OR as_of.refresh_id < published_history.valid_to)
WHERE
    published_history.dataset_group IS NULL
    AND published_history.metric = metric
