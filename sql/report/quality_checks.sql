-- quality_checks: each check that found something. A check that is not listed found nothing.
-- title: What the checks found
-- grain: check
-- chunk: none
-- reason: none
-- column check: The check.
-- column severity: The gravest that it found: error, data is missing or wrong; warning, read with care; info, good to
--     know.
-- column n_findings: Rows of the table findings: one for each group or thing concerned, and for a check of rows one
--     more that sums it up over all groups.
-- column n_errors: Findings of severity error.
-- column n_warnings: Findings of severity warning.
-- column n_infos: Findings of severity info.
-- column n_groups: Groups concerned, as far as findings name them.
-- column n_rows: Rows of tables that failed the check, also those that no finding names; NULL where it is not about
--     rows.
-- column example: The message of one of them.
SELECT
    data_quality."check",
    data_quality.severity,
    data_quality.n_findings,
    data_quality.n_errors,
    data_quality.n_warnings,
    data_quality.n_infos,
    data_quality.n_groups,
    data_quality.n_rows,
    data_quality.example
FROM data_quality
ORDER BY
    CASE data_quality.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
    data_quality."check"
