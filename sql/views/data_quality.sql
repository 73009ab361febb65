-- data_quality: each check that found something, invalid and suspect groups among them, and how much it found. The rows
--     themselves are in findings.
-- grain: check
-- column check: The check that found it. A reserved word in SQL: write it "check", in double quotes.
-- column severity: The gravest that it found: error, data is missing or wrong; warning, read with care; info, good to
--     know.
-- column n_groups: Groups concerned, as far as findings name them.
-- column n_rows: Rows of tables that failed the check, also those that no finding names; NULL where it is not about
--     rows.
-- column n_findings: Rows of the table findings: one for each group or thing concerned, and for a check of rows one
--     more that sums it up over all groups.
-- column n_errors: Findings of severity error.
-- column n_warnings: Findings of severity warning.
-- column n_infos: Findings of severity info.
-- column example: The message of one of them.
SELECT
    findings."check",
    CAST(
        CASE
            WHEN COUNT(*) FILTER (WHERE findings.severity = 'error') > 0 THEN 'error'
            WHEN COUNT(*) FILTER (WHERE findings.severity = 'warning') > 0 THEN 'warning'
            ELSE 'info'
        END AS VARCHAR
    ) AS severity,
    CAST(COUNT(DISTINCT findings.group_id) AS BIGINT) AS n_groups,
    -- A finding without a group sums up those of the groups, some of which have none of their own.
    CAST(SUM(findings.n_rows) FILTER (WHERE findings.group_id IS NULL) AS BIGINT) AS n_rows,
    CAST(COUNT(*) AS BIGINT) AS n_findings,
    CAST(COUNT(*) FILTER (WHERE findings.severity = 'error') AS BIGINT) AS n_errors,
    CAST(COUNT(*) FILTER (WHERE findings.severity = 'warning') AS BIGINT) AS n_warnings,
    CAST(COUNT(*) FILTER (WHERE findings.severity = 'info') AS BIGINT) AS n_infos,
    MIN(findings.message) AS example
FROM findings
GROUP BY findings."check"
