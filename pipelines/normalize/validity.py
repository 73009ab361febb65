"""Whether a group's numbers mean anything: valid, suspect or invalid, with reasons.

A published system answered nothing but its runner's error text and was ranked all the same. A group like that stays
queryable and is left out of rankings, ratings and gains.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.normalize.group import GroupFacts

#: More than this share of failed responses makes a group invalid.
INVALID_FAILED_SHARE = 0.5
#: From this many responses on, all of them being equal makes a group suspect. Fewer can be equal by chance.
CONSTANT_MIN_RESPONSES = 5


@dataclass(frozen=True)
class Validity:
    """`value` is None where nothing speaks against the group and no predictions speak for it."""

    value: str | None
    reasons: tuple[str, ...] = ()

    @property
    def text(self) -> str | None:
        return "; ".join(self.reasons) or None


def judge(facts: GroupFacts) -> Validity:
    """The validity of a group by what its files hold."""
    reasons: list[str] = []
    invalid = False
    if facts.n_predictions:
        failed = facts.n_failed or 0
        invalid = failed / facts.n_predictions > INVALID_FAILED_SHARE
        if failed:
            reasons.append(f"{failed} of {facts.n_predictions} responses failed")
        if facts.all_responses_equal and facts.n_predictions >= CONSTANT_MIN_RESPONSES:
            reasons.append(f"all {facts.n_predictions} responses are equal")
    if facts.n_judge_errors:
        reasons.append(f"{facts.n_judge_errors} judge call{'s' if facts.n_judge_errors > 1 else ''} failed")
    if facts.n_out_of_scale:
        lie = "score lies outside its" if facts.n_out_of_scale == 1 else "scores lie outside their"
        reasons.append(f"{facts.n_out_of_scale} {lie} dataset's range")
    reasons += facts.scale_doubts
    # Scores alone do not say whether the responses failed: an error text is scored like an answer.
    sound = "valid" if facts.n_predictions else None
    return Validity("invalid" if invalid else "suspect" if reasons else sound, tuple(reasons))
