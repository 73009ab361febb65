-- overview_contents: what the warehouse holds: the archive's revision, and how much of everything there is.
-- title: What is in the archive
-- grain: one row
-- chunk: none
-- reason: none
-- column source: Where the archive was read from.
-- column revision: The archive's revision: a commit of the Hub, or content-<digest> for a folder.
-- column refreshed: When the last refresh that changed something was complete (UTC).
-- column n_groups: Result groups that the archive names.
-- column n_backbones: Language models that answer.
-- column n_baselines: Memory systems; wo_memory, which is none, is not counted.
-- column n_collections: Collections, those of each split for themselves.
-- column n_responses: Responses in all groups.
-- column n_scores: Scores in all groups and protocols.
-- column n_derived: Scores of n_scores that are not published but derived: the dataset's main metric.
-- column n_failed: Responses that are the runner's error text, empty or null.
-- column n_invalid: Groups of which more than half of the responses failed; their numbers mean nothing.
-- column n_suspect: Groups to be read with care.
-- column n_unknown: Groups whose validity is unknown: there are no responses to judge by.
-- column n_summary_only: Groups with published numbers and without responses.
-- column n_not_complete: Groups that are partial, stale or quarantined.
-- column n_not_published: Combinations of a system and a collection that the archive does not name.
-- column n_errors: Findings of severity error.
-- column n_warnings: Findings of severity warning.
-- column n_changes: Published numbers that moved since the first refresh of this warehouse.
WITH last_refresh AS (
    SELECT
        refreshes.source,
        refreshes.revision,
        refreshes.ended
    FROM refreshes
    ORDER BY refreshes.refresh_id DESC
    LIMIT 1
),

groups AS (
    SELECT
        coverage.backbone,
        coverage.baseline,
        coverage.split,
        coverage.collection,
        coverage.status,
        coverage.load_status,
        coverage.validity,
        coverage.has_predictions,
        coverage.has_summary,
        coverage.n_predictions,
        coverage.n_scores
    FROM coverage
)

SELECT
    (SELECT last_refresh.source FROM last_refresh) AS source,
    (SELECT last_refresh.revision FROM last_refresh) AS revision,
    (
        SELECT STRFTIME(last_refresh.ended AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M UTC') FROM last_refresh
    ) AS refreshed,
    CAST(COUNT(*) FILTER (WHERE groups.status <> 'not_published') AS BIGINT) AS n_groups,
    CAST(COUNT(DISTINCT groups.backbone) AS BIGINT) AS n_backbones,
    CAST(COUNT(DISTINCT groups.baseline) FILTER (WHERE groups.baseline <> 'wo_memory') AS BIGINT) AS n_baselines,
    CAST(COUNT(DISTINCT (groups.split, groups.collection)) AS BIGINT) AS n_collections,
    CAST(SUM(groups.n_predictions) AS BIGINT) AS n_responses,
    CAST(SUM(groups.n_scores) AS BIGINT) AS n_scores,
    CAST((SELECT COUNT(*) FROM sample_results WHERE sample_results.origin = 'derived') AS BIGINT) AS n_derived,
    CAST((SELECT SUM(failures.n_failed) FROM (
        SELECT results.group_id, MAX(results.n_failed) AS n_failed FROM results GROUP BY results.group_id
    ) AS failures) AS BIGINT) AS n_failed,
    CAST(COUNT(*) FILTER (WHERE groups.validity = 'invalid') AS BIGINT) AS n_invalid,
    CAST(COUNT(*) FILTER (WHERE groups.validity = 'suspect') AS BIGINT) AS n_suspect,
    CAST(
        COUNT(*) FILTER (WHERE groups.validity IS NULL AND groups.status <> 'not_published') AS BIGINT
    ) AS n_unknown,
    CAST(COUNT(*) FILTER (WHERE groups.has_summary AND NOT groups.has_predictions) AS BIGINT) AS n_summary_only,
    CAST(COUNT(*) FILTER (WHERE groups.load_status <> 'complete') AS BIGINT) AS n_not_complete,
    CAST(COUNT(*) FILTER (WHERE groups.status = 'not_published') AS BIGINT) AS n_not_published,
    CAST(COALESCE((SELECT SUM(data_quality.n_errors) FROM data_quality), 0) AS BIGINT) AS n_errors,
    CAST(COALESCE((SELECT SUM(data_quality.n_warnings) FROM data_quality), 0) AS BIGINT) AS n_warnings,
    CAST((SELECT COUNT(*) FROM revision_changes) AS BIGINT) AS n_changes
FROM groups
