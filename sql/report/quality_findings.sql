-- quality_findings: the findings one by one, the gravest first; of more than 1,000, the first 1,000.
-- title: Findings
-- grain: finding
-- chunk: none
-- reason: none
-- column severity: error: data is missing or wrong; warning: read with care; info: good to know.
-- column check: The check that found it.
-- column message: What is wrong, with the evidence.
-- column stage: source: the archive as listed; input: a group's files as read; quality: the loaded tables as checked.
-- column group_id: The group concerned; missing where it is about the archive or a table.
-- column file: The file concerned.
-- column dataset: The sample's dataset.
-- column test_idx: The sample's index.
-- column n_in_all: How many findings there are.
SELECT
    findings.severity,
    findings."check",
    findings.message,
    findings.stage,
    findings.group_id,
    findings.file,
    findings.dataset,
    findings.test_idx,
    CAST(COUNT(*) OVER () AS BIGINT) AS n_in_all
FROM findings
ORDER BY
    CASE findings.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
    findings."check",
    findings.group_id,
    findings.file,
    findings.record,
    findings.dataset,
    findings.test_idx,
    findings.message
LIMIT 1000
