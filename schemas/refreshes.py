"""refreshes: one row for each refresh that changed something."""

from schemas.model import Column, Table


def _count(name: str, meaning: str) -> Column:
    return Column(name, "integer", meaning, minimum=0, provenance=True)


TABLE = Table(
    name="refreshes",
    grain="refresh that changed something",
    meaning="The history of the warehouse.",
    grouped=False,
    key=("refresh_id",),
    columns=(
        Column("refresh_id", "integer", "Running number; also the snapshot's name.", minimum=1, provenance=True),
        Column("started", "timestamp", "When the refresh started (UTC).", provenance=True),
        Column("ended", "timestamp", "When its data was complete (UTC).", provenance=True),
        Column("source", "text", "Where the archive was read from.", provenance=True),
        Column(
            "revision",
            "text",
            "The source's revision: a commit SHA of the Hub, or content-<digest> for a folder, of the content that was "
            "taken: bad files, in whose place a last good version stays, are not in it.",
            provenance=True,
        ),
        _count("groups_added", "Groups that were not there before."),
        _count("groups_changed", "Groups whose content changed."),
        _count("groups_removed", "Groups that are gone from the source."),
        _count("groups_quarantined", "Groups that are bad in this revision, stale ones included."),
        Column("versions", "json", "Versions of this software and its libraries, as a JSON object.", provenance=True),
    ),
)
