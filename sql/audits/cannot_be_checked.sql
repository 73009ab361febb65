-- cannot_be_checked: how many published numbers of a check could not be held against anything, and why. Neither a pass nor
--     a fault.
-- grain: check, reason
-- severity: info
-- message: {check_name} cannot be checked for {n_numbers} published numbers in {n_groups} groups: {reason}
SELECT
    comparisons.check_name,
    COUNT(*) AS n_numbers,
    COUNT(DISTINCT comparisons.group_id) AS n_groups,
    comparisons.open_reason AS reason
FROM comparisons
WHERE comparisons.outcome = 'cannot be checked'
GROUP BY
    comparisons.check_name,
    comparisons.open_reason
ORDER BY ALL
