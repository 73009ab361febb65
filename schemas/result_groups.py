"""result_groups: one row for each result group that the archive names."""

from schemas.model import GROUP_ID, RESIDUE, Column, Table, key_columns

#: The newest files are what is loaded, all of them or those that are there.
GOOD = ("complete", "partial")
#: The newest files could not be loaded: the last good version is shown, or nothing.
BAD = ("stale", "quarantined")
STATUSES = (*GOOD, *BAD)
VALIDITIES = ("valid", "suspect", "invalid")

TABLE = Table(
    name="result_groups",
    grain="group",
    meaning="Every result group that the archive names: where it came from, if it loaded, if it can be trusted.",
    grouped=False,
    key=("group_id",),
    columns=(
        *key_columns(),
        GROUP_ID,
        Column(
            "run_id", "text", "The publisher's name of the run; NULL where the archive has no manifest.", nullable=True
        ),
        Column("relative_dir", "text", "The group's folder inside the archive."),
        Column(
            "first_revision",
            "text",
            "The source's revision in which this content of the group first appeared: a commit SHA of the Hub, or "
            "content-<digest> for a folder, of the content that was taken: bad files, in whose place a last good "
            "version stays, are not in it.",
            provenance=True,
        ),
        Column(
            "files",
            "json",
            'The group\'s files as a JSON list of {"name", "bytes", "digest"}, sorted by name; digest is SHA-256.',
        ),
        Column(
            "status",
            "text",
            "complete: every file that the archive names loaded; partial: a file that it names is not there; stale: "
            "the newest version is bad and the last good one is shown; quarantined: bad, and there is no good version.",
            values=STATUSES,
        ),
        Column(
            "validity",
            "text",
            "valid, suspect or invalid, by the thresholds in pipelines/normalize/validity.py; NULL (unknown) "
            "where nothing speaks against the group and there are no responses to judge by. An invalid group is left "
            "out of rankings, ratings and gains.",
            nullable=True,
            values=VALIDITIES,
        ),
        Column("validity_reasons", "text", "Why the group is suspect or invalid, joined by '; '.", nullable=True),
        Column(
            "protocols",
            "text",
            "The protocols that the group was scored by, joined by ','; NULL where by none.",
            nullable=True,
        ),
        Column("datasets", "json", "The datasets that occur in the group's files, as a sorted JSON list of names."),
        Column(
            "n_predictions",
            "integer",
            "Number of records in predict.json; NULL where that file is not there.",
            nullable=True,
            minimum=0,
        ),
        Column(
            "n_evaluations",
            "integer",
            "Number of records in evaluate_details.json; NULL where that file is not there.",
            nullable=True,
            minimum=0,
        ),
        Column(
            "n_failed",
            "integer",
            "Number of predictions that failed (error text or empty response).",
            nullable=True,
            minimum=0,
        ),
        Column("n_scores", "integer", "Number of rows of the group in sample_scores.", nullable=True, minimum=0),
        RESIDUE,
    ),
)
