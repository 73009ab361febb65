-- published_mean: published means of min-max scores outside of 0 to 1, in groups that are not known to be invalid. Scores
--     beyond the constants of the normalization can take a mean there, and so can a run whose answers are error texts.
--     Nothing is ranked by such a number.
-- grain: group, protocol, metric
-- severity: warning
-- message: the published {metric} is {value}, and a mean of min-max scores lies between 0 and 1 (protocol {protocol})
SELECT
    published_means.group_id,
    published_means.protocol,
    published_means.metric,
    published_means.value AS value
FROM published_means
INNER JOIN result_groups
    ON published_means.group_id = result_groups.group_id
WHERE
    published_means.is_out_of_range
    AND result_groups.validity IS DISTINCT FROM 'invalid'
ORDER BY ALL
