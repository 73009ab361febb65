-- data_quality: each check that found something, invalid and suspect groups among them, and how much it found. The rows
--     themselves are in findings.
-- grain: check
-- column check: The check that found it.
-- column severity: The gravest that it found: error, data is missing or wrong; warning, read with care; info, good to
--     know.
-- column n_groups: Groups concerned, as far as findings name them.
-- column n_samples: Samples concerned, as far as findings name them.
-- column n_findings: Findings, of which one may stand for many samples.
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
    CAST(
        COUNT(
            DISTINCT CASE
                WHEN findings.test_idx IS NOT NULL
                    THEN STRUCT_PACK(g := findings.group_id, d := findings.dataset, i := findings.test_idx)
            END
        ) AS BIGINT
    ) AS n_samples,
    CAST(COUNT(*) AS BIGINT) AS n_findings,
    CAST(COUNT(*) FILTER (WHERE findings.severity = 'error') AS BIGINT) AS n_errors,
    CAST(COUNT(*) FILTER (WHERE findings.severity = 'warning') AS BIGINT) AS n_warnings,
    CAST(COUNT(*) FILTER (WHERE findings.severity = 'info') AS BIGINT) AS n_infos,
    MIN(findings.message) AS example
FROM findings
GROUP BY findings."check"
