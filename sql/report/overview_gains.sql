-- overview_gains: for each memory system, in how many of its backbones and collections it does better or worse than no
--     memory by a test (Holm-adjusted, 0.05), and in how many that cannot be told.
-- title: Does memory help?
-- grain: experiment, protocol, split, baseline
-- chunk: none
-- reason: none
-- column experiment: How the system was run.
-- column protocol: How responses were scored: metrics or llm_judge.
-- column split: How datasets are collected: domain or task.
-- column baseline: The memory system.
-- column n_better: Better than no memory, on these datasets.
-- column n_not_significant: No significant difference on these datasets, which is not the same as none.
-- column n_worse: Worse than no memory, on these datasets.
-- column n_cannot_tell: No test was possible.
-- column n_no_gain: Left out: a group is invalid, or there is nothing to compare with.
-- column n_better_elsewhere: Better than no memory also as a claim on other datasets.
-- column n_worse_elsewhere: Worse than no memory also as a claim on other datasets.
-- column n: Backbones and collections in all.
SELECT
    memory_gain.experiment,
    memory_gain.protocol,
    memory_gain.split,
    memory_gain.baseline,
    CAST(COUNT(*) FILTER (WHERE memory_gain.on_these_datasets = 'better') AS BIGINT) AS n_better,
    CAST(COUNT(*) FILTER (WHERE memory_gain.on_these_datasets = 'not significant') AS BIGINT) AS n_not_significant,
    CAST(COUNT(*) FILTER (WHERE memory_gain.on_these_datasets = 'worse') AS BIGINT) AS n_worse,
    CAST(COUNT(*) FILTER (WHERE memory_gain.on_these_datasets = 'cannot tell') AS BIGINT) AS n_cannot_tell,
    CAST(COUNT(*) FILTER (WHERE memory_gain.on_these_datasets IS NULL) AS BIGINT) AS n_no_gain,
    CAST(COUNT(*) FILTER (WHERE memory_gain.to_other_datasets = 'better') AS BIGINT) AS n_better_elsewhere,
    CAST(COUNT(*) FILTER (WHERE memory_gain.to_other_datasets = 'worse') AS BIGINT) AS n_worse_elsewhere,
    CAST(COUNT(*) AS BIGINT) AS n
FROM memory_gain
GROUP BY memory_gain.experiment, memory_gain.protocol, memory_gain.split, memory_gain.baseline
ORDER BY memory_gain.experiment, memory_gain.protocol, memory_gain.split, memory_gain.baseline
