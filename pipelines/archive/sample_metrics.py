"""Scores and per-sample metrics of the sample archive, in the keys, types and nesting that each dataset publishes.

A score comes first, from the publisher's own mean and spread for that dataset; the metrics are then made to agree
with it. Which system answers how well, and which files it all ends up in, is decided in `sample`.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from statistics import NormalDist
from typing import Any

from pipelines.archive.sample_texts import Writer
from schemas.reference import NormalizationRow

_NORMAL = NormalDist()

Metrics = dict[str, Any]
Score = float | int

# Token F1 is 0 or 1 for most questions of a conversation; the rest lies between. The mean comes out near the
# publisher's 0.44.
_F1_ZERO, _F1_ONE = 0.45, 0.68

# Upper end of each judged rating on the normal scale, lowest rating first: half of all samples miss the planted
# limitation altogether, and the mean comes out near the publisher's 1.3.
_RATINGS = ((0.50, 0), (0.58, 1), (0.70, 2), (0.90, 3), (0.995, 4), (1.0, 5))

_CHARGES = ("盗窃罪", "诈骗罪", "抢劫罪", "故意伤害罪", "危险驾驶罪", "交通肇事罪", "职务侵占罪", "寻衅滋事罪")
_LIMITATIONS = ("low data quality", "limited scope", "insufficient baseline", "ablation study", "limited analysis")
_LEVELS = ("1-2", "3-4", "5-6", "7-8", "9-10")
_MISSING = -1  # how the JuDGE metrics write a prison term or fine that is not there
_HYPOTHESES = 3


@dataclass(frozen=True, slots=True)
class Item:
    """One test sample, the same for every system that answers it.

    `ease` is its part of every system's score, in standard deviations; `text_sentences` the length of its texts.
    """

    dataset: str
    test_idx: int
    question: str
    reference: str
    ease: float
    key: str
    text_sentences: int

    def rng(self, purpose: str) -> Random:
        """A generator for what belongs to the sample itself: the same draws whoever answers."""
        return Random(f"{self.key}/{purpose}")


def draw_score(constants: NormalizationRow, level: float) -> Score:
    """The score of an answer that lies `level` standard deviations above the dataset's mean.

    It has the dataset's own type and stays between the lowest and highest score ever published for it.
    """
    low, high = constants.minimum, constants.maximum
    group = constants.dataset_group
    quantile = _NORMAL.cdf(level)
    if group.startswith("DialSim"):
        return int(quantile > 1 - constants.mu)
    if group == "Locomo":
        if quantile <= _F1_ZERO:
            return 0
        if quantile >= _F1_ONE:
            return 1
        shared = 1 + int((quantile - _F1_ZERO) / (_F1_ONE - _F1_ZERO) * 6)
        return 2 * shared / (shared + 8)
    if group == "LimitGen-Syn":
        rating = next(rating for edge, rating in _RATINGS if quantile <= edge)
        return min(rating, int(high))
    score = min(max(constants.mu + constants.sigma * level, low), high)
    if group.startswith(("HelloBench", "LexEval")) or group == "WritingPrompts":
        return score
    return round(score)


def failed_score(constants: NormalizationRow) -> Score:
    """What the runner's error text is given: the foot of the dataset's scale, not of its published scores."""
    if constants.dataset_group.startswith("WritingBench") or constants.dataset_group in {
        "NFCats", "IdeaBench", "JRE-L", "JuDGE",
    }:  # fmt: skip
        return 1
    return 0.0 if constants.dataset_group.startswith("LexEval") or constants.dataset_group == "WritingPrompts" else 0


def draw_metrics(item: Item, score: Score, writer: Writer, rng: Random) -> tuple[Metrics, Score]:
    """The metrics of an answer with that score, and the score as those metrics give it (a checklist rounds it)."""
    dataset = item.dataset
    if dataset.startswith("Locomo"):
        return {"f1": score, "golden_answer": item.reference, "evidence": _evidence(item, writer)}, score
    if dataset.startswith("DialSim"):
        return {"accuracy": bool(score)}, score
    if dataset.startswith("HelloBench"):
        metrics = _checklist(item, float(score), writer, rng)
        return metrics, metrics["avg_score"]
    if dataset.startswith("WritingBench"):
        return _criteria(item, score, writer, rng), score
    if dataset.startswith("LexEval"):
        return {"rougel": score, "golden_answer": item.reference}, score
    if dataset == "WritingPrompts":
        return {"golden_answer": item.reference, "meteor": score}, score
    if dataset == "NFCats":
        return {"score": score}, score
    special = {"LimitGen-Syn": _limitations, "IdeaBench": _ideas, "JRE-L": _report, "JuDGE": _judgment}[dataset]
    return special(item, int(score), writer, rng), score


def _text(item: Item, writer: Writer, rng: Random) -> str:
    return writer.sentences(rng, item.text_sentences)


def _evidence(item: Item, writer: Writer) -> list[Metrics]:
    rng = item.rng("evidence")
    found = []
    for _ in range(rng.choice((1, 1, 1, 2))):
        turn = {
            "speaker": writer.name(rng),
            "dia_id": f"D{rng.randint(1, 30)}:{rng.randint(1, 25)}",
            "text": _text(item, writer, rng),
        }
        if rng.random() < 0.3:
            turn |= {"blip_caption": f"a photo of {writer.name(rng)}", "query": "old map"}
        found.append(turn)
    return found


def _checklist(item: Item, score: float, writer: Writer, rng: Random) -> Metrics:
    checks = item.rng("checklist")
    count = checks.randint(2, 4)
    # Each check is judged in quarters; how many quarters there are in all makes the mean come near the score.
    quarters = [4] * count
    for _ in range(min(round((1 - score) * 4 * count), 4 * count)):
        quarters[rng.choice([check for check in range(count) if quarters[check]])] -= 1
    mean = sum(quarters) / 4 / count
    return {
        "avg_score": mean if mean else 0,
        "checklist_evaluation": [
            {"checklist_id": check, "reason": _text(item, writer, rng), "evaluation_score": quarters[check] / 4}
            for check in range(count)
        ],
        "checklist": [
            {"checklist_id": check, "checklist_content": writer.sentences(checks, 1)} for check in range(count)
        ],
    }


def _criteria(item: Item, score: Score, writer: Writer, rng: Random) -> Metrics:
    own = item.rng("criteria")
    criteria = [
        {
            "name": writer.name(own),
            "criteria_description": writer.sentences(own, 1),
            **{level: writer.text(own, 24) for level in _LEVELS},
        }
        for _ in range(item.text_sentences)
    ]
    return {"score": score, "reason": _text(item, writer, rng), "criteria": criteria}


def _limitations(item: Item, rating: int, writer: Writer, rng: Random) -> Metrics:
    subtype = item.rng("subtype").choice(_LIMITATIONS)
    ratings = [0, 0, 0]
    if rating:
        ratings[rng.randrange(3)] = rating
    others = [other for other in _LIMITATIONS if other != subtype]
    return {
        "ground_truth": item.reference,
        "accuracy_list": [value > 0 for value in ratings],
        "predicted_subtype_list": [subtype if value else rng.choice(others) for value in ratings],
        "ground_truth_subtype": subtype,
        "explanation_list": [_text(item, writer, rng) if value else "N/A" for value in ratings],
        "rating_list": ratings,
        "rating": rating,
        "accuracy": rating > 0,
    }


def _ideas(item: Item, score: int, writer: Writer, rng: Random) -> Metrics:
    hypotheses = [f"**Hypothesis {number}:** {_text(item, writer, rng)}" for number in range(1, _HYPOTHESES + 1)]
    novelty, feasibility = (_ranking(item, score, writer, rng) for _ in range(2))
    return {
        "generated_hypotheses": hypotheses,
        "best_hypothesis_by_bertf1": rng.choice(hypotheses),
        "bert_score": min(max(rng.gauss(0.45 + 0.02 * score, 0.05), 0.0), 1.0),
        "llm_rating_score": min(max(score + rng.choice((-1, 0, 0, 1)), 1), 10),
        "llm_novelty_ranking_score": (novelty["r_target"] - 1) / _HYPOTHESES,
        "llm_feasibility_ranking_score": (feasibility["r_target"] - 1) / _HYPOTHESES,
        "llm_rating": {"rating": score, "explanation": _text(item, writer, rng)},
        "llm_novelty_ranking": novelty,
        "llm_feasibility_ranking": feasibility,
    }


def _ranking(item: Item, score: int, writer: Writer, rng: Random) -> Metrics:
    """Where a judge ranks the real idea among the generated ones; 0 and an empty ranking where it gave none."""
    if rng.random() < 0.03:
        return {"r_target": 0, "ranking": [], "raw_text": _text(item, writer, rng)}
    place = 1 + sum(rng.random() < score / 15 for _ in range(_HYPOTHESES))
    ranking = list("BCD")
    rng.shuffle(ranking)
    ranking.insert(place - 1, "A")
    return {"r_target": place, "ranking": ranking, "raw_text": _text(item, writer, rng)}


def _report(item: Item, score: int, writer: Writer, rng: Random) -> Metrics:
    own = item.rng("paper")
    return {
        "sc-title": writer.text(own, 60),
        "sc-abstract": _text(item, writer, own),
        "pr-title": writer.text(own, 50),
        "pr-abstract": item.reference,
        "Rouge-L": min(max(rng.gauss(0.008 * score, 0.02), 0.0), 1.0),
        "BERTScore-F1": min(max(rng.gauss(0.68 + 0.015 * score, 0.02), 0.0), 1.0),
        "CLI": rng.gauss(15, 1.2),
        "FKGL": rng.gauss(14, 1.5),
        "DCRS": rng.gauss(12, 0.8),
    }


def _judgment(item: Item, score: int, writer: Writer, rng: Random) -> Metrics:
    own, quality = item.rng("case"), score / 10
    charges = own.sample(_CHARGES, own.choice((1, 1, 2)))
    articles = [str(number) for number in own.sample(range(20, 420), own.randint(2, 5))]
    months = own.choice((3, 6, 7, 12, 18, 36, 84))
    fine = own.choice((1000, 2000, 5000, 20000, 150000)) if item.test_idx % 4 else _MISSING
    reasoning, verdict = _text(item, writer, own), writer.sentences(own, 1)

    named = [charge for charge in charges if rng.random() < quality + 0.15]
    cited = [article for article in articles if rng.random() < quality]
    cited += [str(rng.randrange(20, 420)) for _ in range(rng.randint(0, 2))]
    given_months = max(1, round(months * rng.uniform(0.4, 1.4))) if rng.random() < quality + 0.15 else _MISSING
    given_fine = rng.choice((1000, 2000, 5000, 20000)) if rng.random() < quality else _MISSING
    complete = bool(named) and rng.random() < quality + 0.15
    return {
        "reasoning_bert_score": min(max(rng.gauss(0.65 + 0.025 * score, 0.03), 0.0), 1.0) if score > 1 else 0.0,
        "judge_bert_score": min(max(rng.gauss(0.65 + 0.025 * score, 0.05), 0.0), 1.0) if complete else 0.0,
        "reasoning_meteor": min(max(rng.gauss(0.06 * score, 0.1), 0.01), 1.0) if complete else None,
        "judge_meteor": min(max(rng.gauss(0.06 * score, 0.15), 0.01), 1.0) if complete else None,
        "exp_reasoning": f"本院认为，{reasoning}",
        "exp_judge": verdict,
        "gen_reasoning": f"本院认为，{_text(item, writer, rng)}" if score > 1 else "",
        "gen_judge": writer.sentences(rng, 1) if complete else "",
        "crime_recall": len(named) / len(charges),
        "crime_precision": 1.0 if named else 0,
        "time_score": _closeness(months, given_months),
        "amount_score": None if fine == _MISSING else _closeness(fine, given_fine),
        "penalcode_index_recall": len(set(cited) & set(articles)) / len(articles),
        "penalcode_index_precision": len(set(cited) & set(articles)) / len(cited) if cited else 0,
        "exp_crime": charges,
        "gen_crime": named,
        "exp_time": months,
        "gen_time": given_months,
        "exp_amount": fine,
        "gen_amount": given_fine,
        "exp_penalcode_index": articles,
        "gen_penalcode_index": cited,
        "golden_answer": item.reference,
    }


def _closeness(expected: int, given: int) -> float:
    return 0.0 if given == _MISSING else min(expected, given) / max(expected, given)
