"""gain_tests: what each memory system gains over answering without memory, and how sure that is."""

from schemas.model import GROUP_ID, PROTOCOL, Column, Table, key_columns


def _count(name: str, meaning: str) -> Column:
    return Column(name, "integer", meaning, minimum=0)


def _number(name: str, meaning: str, *, minimum: float | None = None, maximum: float | None = None) -> Column:
    return Column(name, "number", meaning, nullable=True, minimum=minimum, maximum=maximum)


TABLE = Table(
    name="gain_tests",
    grain="group whose baseline is not wo_memory, protocol",
    meaning="The gain of each group over wo_memory of the same experiment, backbone, split and collection: the mean "
    "difference of min-max scores over their common samples, with intervals and tests. `excluded` says where it means "
    "nothing; the view memory_gain leaves those figures out.",
    grouped=False,
    key=("group_id", "protocol"),
    columns=(
        *key_columns(),
        GROUP_ID,
        PROTOCOL,
        Column(
            "reference_group_id",
            "text",
            "The wo_memory group that it is compared with; NULL where none.",
            nullable=True,
        ),
        Column(
            "excluded",
            "text",
            "Why the gain means nothing or is not there: a group is invalid, or there is nothing to compare with; "
            "NULL where it counts.",
            nullable=True,
        ),
        _count("n", "Common samples with a published score on both sides and a finite difference, failures included."),
        _count("n_not_finite", "Common samples left out because their difference is NaN, infinite or beyond 1e100."),
        _count("wins", "Samples on which the baseline is better by more than 1e-9."),
        _count("ties", "Samples on which the two differ by no more than 1e-9."),
        _count("losses", "Samples on which the baseline is worse by more than 1e-9."),
        _count("n_failed_baseline", "Samples of n whose generation or judgement failed on the baseline's side."),
        _count("n_failed_reference", "The same on the side of wo_memory."),
        _number("delta", "The gain: the mean over n of the baseline's min-max score minus that of wo_memory."),
        _count("n_valid", "Samples of n that failed on neither side."),
        _number("delta_valid", "The mean difference over n_valid."),
        _count("n_strata", "Dataset groups that occur in n."),
        _number(
            "se_stratified",
            "Standard error of delta for other samples of these datasets: (1/N) * sqrt(sum over dataset groups of n_g "
            "times the variance (ddof 1)). NULL where a dataset group has a single sample, or none has any spread.",
            minimum=0,
        ),
        _count("df", "Degrees of freedom of the stratified interval: n - n_strata."),
        _number("ci_low", "Lower end of the 95 % interval on these datasets, delta - t(df) * se_stratified."),
        _number("ci_high", "Upper end of it."),
        _number(
            "p_stratified", "Two-sided p of no gain on these datasets, by t(df), not adjusted.", minimum=0, maximum=1
        ),
        _number("p_stratified_holm", "p_stratified adjusted by Holm over the n_family gains.", minimum=0, maximum=1),
        _count("n_clusters", "Datasets that occur in n, each LoCoMo conversation its own."),
        _number("se_clustered", "Standard error of delta for other datasets; NULL where n_clusters < 2.", minimum=0),
        _number("ci_clustered_low", "Lower end of delta - t(n_clusters - 1) * se_clustered."),
        _number("ci_clustered_high", "Upper end of it."),
        _number("se_clustered_cr2", "se_clustered, bias-reduced (CR2) for datasets of unequal size.", minimum=0),
        _number("df_clustered_cr2", "Satterthwaite degrees of freedom of se_clustered_cr2.", minimum=0),
        _number(
            "ci_clustered_cr2_low",
            "Lower end of the 95 % interval to other datasets, delta - t(df_clustered_cr2) * se_clustered_cr2.",
        ),
        _number("ci_clustered_cr2_high", "Upper end of it."),
        _number(
            "p_clustered",
            "Exact two-sided p of no gain on other datasets, by flipping signs of the datasets' sums; not adjusted.",
            minimum=0,
            maximum=1,
        ),
        _number("p_clustered_holm", "p_clustered adjusted by Holm over the n_family gains.", minimum=0, maximum=1),
        _number("p_min", "The smallest p_clustered that so few datasets can give: 2^(1 - n_clusters).", minimum=0),
        Column(
            "testable",
            "boolean",
            "Whether p_clustered_holm could reach 0.05 at all with these datasets. Where false, read 'cannot tell', "
            "not 'no difference'.",
        ),
        _count(
            "n_family",
            "Gains that Holm adjusts together: those of one experiment, backbone, split, collection and protocol that "
            "are not excluded. One without a p value is among them, and does not count in Holm's m.",
        ),
        Column(
            "inputs_digest",
            "text",
            "SHA-256 over the names, files and validity of the groups that this was computed from; while it stays the "
            "same, so do the figures.",
        ),
    ),
)
