-- summary_table_{metric}: the published {metric} of every system, a column for each baseline that occurs: the
--     publisher's summary table. NULL where the number is not published. Groups that are invalid are in it, as
--     published; the view results says which those are.
-- grain: experiment, backbone, split, collection, protocol
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column protocol: How responses were scored: metrics or llm_judge. Numbers of different protocols do not compare.
SELECT
    group_protocols.experiment,
    group_protocols.backbone,
    group_protocols.split,
    group_protocols.collection,
    group_protocols.protocol{baseline_columns}
FROM group_protocols
LEFT JOIN summary_metrics
    ON
        group_protocols.group_id = summary_metrics.group_id
        AND group_protocols.protocol = summary_metrics.protocol
        AND summary_metrics.metric = '{metric}'
WHERE group_protocols.protocol IS NOT NULL
GROUP BY
    group_protocols.experiment,
    group_protocols.backbone,
    group_protocols.split,
    group_protocols.collection,
    group_protocols.protocol
