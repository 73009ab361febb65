unknown AS (
    SELECT
        group_protocols.experiment,
        group_protocols.protocol,
        group_protocols.split,
        group_protocols.backbone,
        group_protocols.baseline,
        COUNT(*) FILTER (WHERE group_protocols.validity IS NULL) AS n
    FROM group_protocols
    GROUP BY
        group_protocols.experiment,
        group_protocols.protocol,
        group_protocols.split,
        group_protocols.backbone,
        group_protocols.baseline
)
