-- changes_refreshes: the refreshes that changed something, the last one first, and how many published numbers moved.
-- title: Refreshes
-- grain: refresh
-- chunk: none
-- reason: none
-- column refresh_id: The refresh's number.
-- column ended: When its data was complete (UTC).
-- column revision: The archive's revision.
-- column source: Where the archive was read from.
-- column groups_added: Groups that were not there before.
-- column groups_changed: Groups whose content changed.
-- column groups_removed: Groups that are gone.
-- column groups_quarantined: Groups that are bad in this revision.
-- column n_changed: Published numbers that moved; the first refresh has none, as there was nothing before it.
-- column n_added: Published numbers that are new.
-- column n_removed: Published numbers that are gone.
WITH moved AS (
    SELECT
        revision_changes.new_refresh_id,
        COUNT(*) FILTER (WHERE revision_changes.change = 'changed') AS n_changed,
        COUNT(*) FILTER (WHERE revision_changes.change = 'added') AS n_added,
        COUNT(*) FILTER (WHERE revision_changes.change = 'removed') AS n_removed
    FROM revision_changes
    GROUP BY revision_changes.new_refresh_id
)

SELECT
    refreshes.refresh_id,
    STRFTIME(refreshes.ended AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M UTC') AS ended,
    refreshes.revision,
    refreshes.source,
    refreshes.groups_added,
    refreshes.groups_changed,
    refreshes.groups_removed,
    refreshes.groups_quarantined,
    CAST(COALESCE(moved.n_changed, 0) AS BIGINT) AS n_changed,
    CAST(COALESCE(moved.n_added, 0) AS BIGINT) AS n_added,
    CAST(COALESCE(moved.n_removed, 0) AS BIGINT) AS n_removed
FROM refreshes
LEFT JOIN moved
    ON refreshes.refresh_id = moved.new_refresh_id
ORDER BY refreshes.refresh_id DESC
