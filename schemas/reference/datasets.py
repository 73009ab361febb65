"""The 28 datasets of the benchmark: where each belongs, its main metric and the scale of its score.

Facts of the benchmark as published, and the ranges its metrics can take. What an archive says about its own rows
(which protocol scored them, which datasets occur) does not belong here.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

UNIT = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Dataset:
    """One dataset of the benchmark.

    `domain` and `task` name the two collections that hold it: every test sample appears once in each.
    `main_metric` is the metric that the published score repeats; None where the score is settled outside the metrics.
    `score_min` and `score_max` bound the score in `summary.details`, in the score's own unit.
    `language` is the one most of its prompts are written in.
    """

    dataset: str
    dataset_group: str
    domain: str
    task: str
    language: Literal["en", "zh"]
    main_metric: str | None
    score_min: float
    score_max: float
    description: str


@dataclass(frozen=True, slots=True)
class MetricRange:
    """The values a metric can take by its definition; None where it has no bound on that side."""

    dataset_pattern: str
    metric: str
    minimum: float | None
    maximum: float | None
    note: str


def dataset_group(dataset: str) -> str:
    """The name that scores are summarised under: `Locomo` for each of its conversations, else the dataset itself."""
    conversation = dataset.removeprefix("Locomo-")
    if conversation != dataset and conversation.isascii() and conversation.isdigit():
        return "Locomo"
    return dataset


def _locomo(conversation: int) -> Dataset:
    return Dataset(
        f"Locomo-{conversation}", "Locomo", "Open-Domain", "Long-Short", "en", "f1", *UNIT,
        f"Questions about the long conversation {conversation} of LoCoMo; token overlap with a short gold answer.",
    )  # fmt: skip


def _dataset(
    dataset: str,
    domain: str,
    task: str,
    language: Literal["en", "zh"],
    main_metric: str | None,
    scale: tuple[float, float],
    description: str,
) -> Dataset:
    return Dataset(dataset, dataset, domain, task, language, main_metric, *scale, description)


OPEN, ACADEMIC, LEGAL = "Open-Domain", "Academic&Knowledge", "Legal"

# A judge is asked for 1 to 10, and 0 stands where it gave no usable answer: the published constants of JuDGE,
# IdeaBench and JRE-L start at 0. Those of LimitGen-Syn span 0 to 5, the span of its metric `rating`; the wider scale
# is kept for it too, because the score is described as merged and nothing else in the archive tells the two apart.
_JUDGED = (0.0, 10.0)

_ROWS = (
    *(_locomo(conversation) for conversation in range(10)),
    _dataset("DialSim-friends", OPEN, "Long-Short", "en", "accuracy", UNIT,
             "Questions about the dialogue of the series Friends; right or wrong."),
    _dataset("DialSim-bigbang", OPEN, "Long-Short", "en", "accuracy", UNIT,
             "Questions about the dialogue of the series The Big Bang Theory; right or wrong."),
    _dataset("DialSim-theoffice", OPEN, "Long-Short", "en", "accuracy", UNIT,
             "Questions about the dialogue of the series The Office; right or wrong."),
    _dataset("HelloBench-Creative&Design", OPEN, "Long-Long", "en", "avg_score", UNIT,
             "Long creative writing, judged against a checklist; the mean of the checks."),
    _dataset("WritingBench-Creative&Design", OPEN, "Long-Long", "en", "score", (1.0, 10.0),
             "Creative writing from given material, judged 1 to 10 on criteria of its own."),
    _dataset("WritingPrompts", OPEN, "Short-Long", "en", "meteor", UNIT,
             "A story to a prompt, compared with a human one by METEOR."),
    _dataset("NFCats", OPEN, "Short-Short", "en", "score", (1.0, 5.0),
             "Non-factoid questions; the answer is judged 1 to 5."),
    _dataset("LimitGen-Syn", ACADEMIC, "Long-Short", "en", None, _JUDGED,
             "Find the limitation planted in a paper; category hit and judged closeness to the reference."),
    _dataset("IdeaBench", ACADEMIC, "Long-Short", "en", None, _JUDGED,
             "Research hypotheses from abstracts; similarity, judged rating and ranking against the real one."),
    _dataset("HelloBench-Academic&Knowledge-Writing", ACADEMIC, "Long-Long", "en", "avg_score", UNIT,
             "Long academic writing, judged against a checklist; the mean of the checks."),
    _dataset("WritingBench-Academic&Engineering", ACADEMIC, "Long-Long", "en", "score", (1.0, 10.0),
             "Academic and engineering writing from given material, judged 1 to 10 on criteria of its own."),
    _dataset("HelloBench-Academic&Knowledge-QA", ACADEMIC, "Short-Long", "en", "avg_score", UNIT,
             "Open questions with long answers, judged against a checklist; the mean of the checks."),
    _dataset("JRE-L", ACADEMIC, "Short-Short", "en", None, _JUDGED,
             "A news report on a scientific paper; overlap with the press release and readability."),
    _dataset("LexEval-Summarization", LEGAL, "Long-Short", "zh", "rougel", UNIT,
             "Summaries of legal texts, compared with a reference by ROUGE-L."),
    _dataset("LexEval-Judge", LEGAL, "Long-Long", "zh", "rougel", UNIT,
             "The reasoning of a judgment from the facts, compared with the real one by ROUGE-L."),
    _dataset("WritingBench-Politics&Law", LEGAL, "Long-Long", "zh", "score", (1.0, 10.0),
             "Political and legal writing from given material, judged 1 to 10 on criteria of its own."),
    _dataset("JuDGE", LEGAL, "Short-Long", "zh", None, _JUDGED,
             "A whole criminal judgment from the facts; charges, articles, sentence and text against the real one."),
    _dataset("LexEval-QA", LEGAL, "Short-Short", "zh", "rougel", UNIT,
             "Legal questions, compared with a reference answer by ROUGE-L."),
)  # fmt: skip

DATASETS: dict[str, Dataset] = {row.dataset: row for row in _ROWS}
"""Every dataset by name, in an order that is not the alphabet's, as the runner's is not."""

_BY_GROUP = {row.dataset_group: row for row in _ROWS}

# Families whose every member has one and the same main metric: a dataset that joins one is scored like its siblings.
_FAMILY_METRICS = {
    "DialSim-": "accuracy",
    "LexEval-": "rougel",
    "HelloBench-": "avg_score",
    "WritingBench-": "score",
}


def main_metric(dataset: str) -> str | None:
    """The metric whose value is the dataset's published score.

    None for the datasets whose score stands in no metric, and for a dataset that is not known: nothing is guessed.
    """
    if known := DATASETS.get(dataset):
        return known.main_metric
    if dataset_group(dataset) == "Locomo":
        return "f1"
    return next((metric for prefix, metric in _FAMILY_METRICS.items() if dataset.startswith(prefix)), None)


def score_range(dataset_group: str, protocol: str) -> tuple[float, float] | None:
    """The lowest and highest score of a dataset group under a protocol.

    None for a group that is not known, and for any protocol but `metrics`: a judge's scale differs between versions
    and is told by what the file holds.
    """
    known = _BY_GROUP.get(dataset_group)
    if known is None or protocol != "metrics":
        return None
    return known.score_min, known.score_max


METRIC_RANGES: tuple[MetricRange, ...] = (
    MetricRange("Locomo-*", "f1", 0, 1, "token F1; 0 and 1 are written as integers"),
    MetricRange("DialSim-*", "accuracy", 0, 1, "a boolean"),
    MetricRange("HelloBench-*", "avg_score", 0, 10,
                "mean of the checklist, 0 to 1; some releases put a leaderboard's judged figure of the same name in its"
                " place, observed 5 to 9. avg_score on any other dataset is such a figure too, on the scale of whoever"
                " added it: it has no range here"),
    MetricRange("LexEval-*", "rougel", 0, 1, "ROUGE-L; observed up to 0.50"),
    MetricRange("WritingPrompts", "meteor", 0, 1, "METEOR; observed 0.02 to 0.32"),
    MetricRange("NFCats", "score", 1, 5, "judged integer"),
    MetricRange("WritingBench-*", "score", 1, 10, "judged integer; observed 1 to 9"),
    MetricRange("LimitGen-Syn", "accuracy", 0, 1, "a boolean"),
    MetricRange("LimitGen-Syn", "rating", 0, 5, "judged 1 to 5; 0 where no limitation hit the category"),
    MetricRange("IdeaBench", "bert_score", -1, 1, "cosine similarity; observed 0.38 to 0.68"),
    MetricRange("IdeaBench", "llm_rating_score", 0, 10,
                "judged 1 to 10; 0 where the judge gave no rating: the published constants start at 0"),
    MetricRange("IdeaBench", "llm_novelty_ranking_score", -1, 1,
                "(rank of the real idea - 1) / number of hypotheses; negative where the ranking could not be read"
                " (rank 0): observed -1/3 with three hypotheses"),
    MetricRange("IdeaBench", "llm_feasibility_ranking_score", -1, 1, "as the novelty ranking; observed 0 to 1"),
    MetricRange("JRE-L", "Rouge-L", 0, 1, "ROUGE-L; observed 0 to 0.19"),
    MetricRange("JRE-L", "BERTScore-F1", -1, 1, "cosine similarity; observed 0.68 to 0.84"),
    MetricRange("JRE-L", "CLI", None, None, "Coleman-Liau index, a school grade; observed 12.8 to 292.6"),
    MetricRange("JRE-L", "FKGL", None, None, "Flesch-Kincaid grade; observed 0.5 to 19.1, negative on short words"),
    MetricRange("JRE-L", "DCRS", None, None, "Dale-Chall readability; observed 10.9 to 20.0"),
    MetricRange("JuDGE", "crime_recall", 0, 1, "share of the charges found"),
    MetricRange("JuDGE", "crime_precision", 0, 1, "0 as an integer where no charge was named"),
    MetricRange("JuDGE", "penalcode_index_recall", 0, 1, "share of the articles found"),
    MetricRange("JuDGE", "penalcode_index_precision", 0, 1, "0 as an integer where no article was named"),
    MetricRange("JuDGE", "reasoning_meteor", 0, 1, "METEOR; null where that part of the judgment is missing"),
    MetricRange("JuDGE", "judge_meteor", 0, 1, "METEOR; null where that part of the judgment is missing"),
    MetricRange("JuDGE", "time_score", 0, 1, "closeness of the prison term; null where there is none to compare"),
    MetricRange("JuDGE", "amount_score", 0, 1, "closeness of the fine; null where there is none to compare"),
    MetricRange("JuDGE", "reasoning_bert_score", -1, 1, "cosine similarity; observed 0.75 to 0.90"),
    MetricRange("JuDGE", "judge_bert_score", -1, 1, "cosine similarity; observed 0 (part missing) to 0.92"),
)  # fmt: skip
"""The known metrics by dataset. A metric that is not listed is data like any other: it has no range to fall out of."""


def metric_range(dataset: str, metric: str) -> MetricRange | None:
    """The range of a metric on a dataset, None where no bound or meaning is known."""
    for known in METRIC_RANGES:
        if known.metric == metric and fnmatchcase(dataset, known.dataset_pattern):
            return known
    return None
