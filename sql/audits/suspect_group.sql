-- suspect_group: groups whose numbers should be read with care.
-- grain: group
-- severity: info
-- message: suspect: {reasons}
SELECT
    result_groups.group_id,
    COALESCE(result_groups.validity_reasons, 'no reason was recorded') AS reasons
FROM result_groups
WHERE result_groups.validity = 'suspect'
ORDER BY ALL
