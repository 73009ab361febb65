-- comparable_groups{_all}: each scored group, and what keeps it out of rankings and comparisons. {invalid_groups}
-- grain: group, protocol
-- column experiment: How the system was run.
-- column backbone: The language model that answers.
-- column split: How datasets are collected: domain or task.
-- column collection: The collection of datasets inside the split.
-- column baseline: The memory system.
-- column group_id: The five keys joined by '/'.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column excluded: Why the group is left out; NULL where it is in.
SELECT
    group_protocols.experiment,
    group_protocols.backbone,
    group_protocols.split,
    group_protocols.collection,
    group_protocols.baseline,
    group_protocols.group_id,
    group_protocols.protocol,
    CAST(
        CASE
            WHEN group_protocols.validity = 'invalid' AND {only_valid}
                THEN CONCAT('invalid: ', COALESCE(group_protocols.validity_reasons, 'no reason was recorded'))
        END AS VARCHAR
    ) AS excluded
FROM group_protocols
WHERE group_protocols.protocol IS NOT NULL
