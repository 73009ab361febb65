-- reference_baselines: the memory systems: their names in the paper and what they do.
-- title: The memory systems
-- grain: baseline
-- chunk: none
-- reason: none
-- column baseline: The memory system as published.
-- column paper_name: Its name in the paper's tables.
-- column type: What kind of memory it is.
-- column description: What it does.
SELECT
    baselines.baseline,
    baselines.paper_name,
    baselines.type,
    baselines.description
FROM baselines
WHERE baselines.baseline IN (SELECT coverage.baseline FROM coverage)
ORDER BY baselines.baseline
