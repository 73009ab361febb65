-- invalid_group: groups whose numbers mean nothing; they are left out of rankings, ratings and gains.
-- grain: group
-- severity: warning
-- message: invalid: {reasons}
SELECT
    result_groups.group_id,
    COALESCE(result_groups.validity_reasons, 'no reason was recorded') AS reasons
FROM result_groups
WHERE result_groups.validity = 'invalid'
ORDER BY ALL
