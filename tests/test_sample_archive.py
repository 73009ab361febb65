"""The generated sample archive: the published shape, honest summaries, the same bytes every time."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest

from pipelines.archive import sample
from pipelines.archive.sample import COLLECTIONS, FAILED_SYSTEM, main, write_sample
from pipelines.errors import UsageError
from schemas.reference import (
    DATASETS,
    FAILED_GENERATION,
    dataset_group,
    main_metric,
    metric_range,
    normalization_of,
    score_range,
)

ROOT = Path(__file__).resolve().parent.parent
FILES = ["evaluate_details.json", "predict.json", "run_config.json", "summary.json"]
NUMBER = (int, float)

SHAPES = {
    "Locomo": {"f1": NUMBER, "golden_answer": str, "evidence": list},
    "DialSim": {"accuracy": bool},
    "HelloBench": {"avg_score": NUMBER, "checklist": list, "checklist_evaluation": list},
    "IdeaBench": {
        "bert_score": float,
        "llm_rating_score": int,
        "llm_novelty_ranking_score": float,
        "llm_feasibility_ranking_score": float,
        "generated_hypotheses": list,
        "best_hypothesis_by_bertf1": str,
        "llm_rating": dict,
        "llm_novelty_ranking": dict,
        "llm_feasibility_ranking": dict,
    },
    "JRE-L": {
        **dict.fromkeys(("Rouge-L", "BERTScore-F1", "CLI", "FKGL", "DCRS"), float),
        **dict.fromkeys(("sc-title", "sc-abstract", "pr-title", "pr-abstract"), str),
    },
    "JuDGE": {
        **dict.fromkeys(("reasoning_bert_score", "judge_bert_score", "crime_recall", "time_score"), float),
        **dict.fromkeys(("reasoning_meteor", "judge_meteor", "amount_score"), (float, type(None))),
        **dict.fromkeys(("crime_precision", "penalcode_index_precision", "penalcode_index_recall"), NUMBER),
        **dict.fromkeys(("exp_time", "gen_time", "exp_amount", "gen_amount"), int),
        **dict.fromkeys(("exp_crime", "gen_crime", "exp_penalcode_index", "gen_penalcode_index"), list),
        **dict.fromkeys(("exp_reasoning", "exp_judge", "gen_reasoning", "gen_judge", "golden_answer"), str),
    },
    "LexEval": {"rougel": float, "golden_answer": str},
    "LimitGen-Syn": {
        "ground_truth": str,
        "ground_truth_subtype": str,
        "accuracy": bool,
        "rating": int,
        **dict.fromkeys(("accuracy_list", "rating_list", "explanation_list", "predicted_subtype_list"), list),
    },
    "NFCats": {"score": int},
    "WritingBench": {"score": int, "reason": str, "criteria": list},
    "WritingPrompts": {"meteor": float, "golden_answer": str},
}


def shape_of(dataset: str) -> dict:
    return next(shape for family, shape in SHAPES.items() if dataset.startswith(family))


def read(folder: Path, name: str):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    """The sample as it is bundled, with what writing it returned."""
    out = tmp_path_factory.mktemp("sample")
    return out, write_sample(out)


@pytest.fixture(scope="module")
def groups(bundled):
    """Manifest line, evaluations, predictions and summary of every group of the bundled sample."""
    out, _ = bundled
    lines = [json.loads(line) for line in (out / "manifest.jsonl").read_text(encoding="utf-8").splitlines()]
    return [
        (line, *(read(out / line["relative_dir"], name) for name in (FILES[0], FILES[1], FILES[3]))) for line in lines
    ]


def test_the_bundled_sample_has_the_published_groups_in_a_few_megabytes(bundled, groups):
    out, stats = bundled
    files = contents(out)
    assert stats.groups == len(groups) == 244
    assert stats.samples == sum(len(evaluations) for _, evaluations, _, _ in groups)
    assert stats.bytes == sum(map(len, files.values())) < 5.3e6
    assert Counter(Path(name).name for name in files) == {"manifest.jsonl": 1} | dict.fromkeys(FILES, 244)
    systems = Counter((line["dataset_type"], line["set_name"]) for line, *_ in groups)
    skipped = {("domain", "Open-Domain"), ("task", "Long-Short")}
    assert systems == {collection: 32 if collection in skipped else 36 for collection in COLLECTIONS}


def test_a_manifest_line_says_where_its_group_is(bundled, groups):
    out, _ = bundled
    for line, *_ in groups:
        keys = ("model", "dataset_type", "set_name", "baseline")
        assert line["relative_dir"] == f"{line['exp']}-{'/'.join(line[key] for key in keys)}"
        assert sorted(path.name for path in (out / line["relative_dir"]).iterdir()) == line["files"] == FILES


def test_every_dataset_is_in_its_domain_and_its_task_with_the_same_samples_for_every_system(groups):
    seen = {}
    for line, evaluations, _, _ in groups:
        keys = [(row["dataset"], row["test_idx"]) for row in evaluations]
        assert len(set(keys)) == len(keys)
        for dataset in {dataset for dataset, _ in keys}:
            collection = DATASETS[dataset].domain if line["dataset_type"] == "domain" else DATASETS[dataset].task
            assert collection == line["set_name"]
            indices = frozenset(index for name, index in keys if name == dataset)
            seen.setdefault(dataset, Counter())[line["dataset_type"], indices] += 1
    assert set(seen) == set(DATASETS)
    for dataset, counts in seen.items():
        assert {split for split, _ in counts} == {"domain", "task"}, dataset
        assert len({indices for _, indices in counts}) == 1, dataset


def test_predictions_and_evaluations_hold_the_same_samples_in_different_order(groups):
    different = 0
    for _, evaluations, predictions, _ in groups:
        evaluated = [(row["dataset"], row["test_idx"]) for row in evaluations]
        predicted = [(row["dataset"], row["test_idx"]) for row in predictions]
        assert sorted(evaluated) == sorted(predicted)
        assert all(list(row) == ["test_idx", "messages", "response", "dataset"] for row in predictions)
        different += evaluated != predicted
        assert evaluated != sorted(evaluated) or len({dataset for dataset, _ in evaluated}) < 4
    assert different > 200


def test_metrics_have_the_published_keys_types_and_ranges(groups):
    seen = {}
    for _, evaluations, _, _ in groups:
        for row in evaluations:
            shape = shape_of(row["dataset"])
            assert set(row["metrics"]) == set(shape), row["dataset"]
            for metric, value in row["metrics"].items():
                assert isinstance(value, shape[metric]), (row["dataset"], metric, value)
                assert isinstance(value, bool) == (shape[metric] is bool), (row["dataset"], metric, value)
                known = metric_range(row["dataset"], metric)
                if known is not None and known.minimum is not None and value is not None:
                    assert known.minimum <= value <= known.maximum, (row["dataset"], metric, value)
                seen.setdefault((dataset_group(row["dataset"]), metric), set()).add(type(value))
    assert seen["Locomo", "f1"] == {int, float}
    assert seen["JuDGE", "amount_score"] == {float, type(None)}
    assert seen["JuDGE", "crime_precision"] == {int, float}


def test_metrics_nest_as_the_real_ones_do(real_archive, groups):
    def nesting(value):
        if isinstance(value, list):
            return ("list", tuple(sorted({nesting(element) for element in value}, key=str)))
        return tuple(sorted(value)) if isinstance(value, dict) else type(value).__name__

    def nested(evaluations):
        return {
            (dataset_group(row["dataset"]), metric, nesting(value))
            for row in evaluations
            for metric, value in row["metrics"].items()
            if isinstance(value, list | dict) and value and metric != "evidence"
        }

    real = set()
    for file in real_archive.glob("*/*/*/*/evaluate_details.json"):
        real |= nested(json.loads(file.read_text(encoding="utf-8")))
    ours = set().union(*(nested(evaluations) for _, evaluations, _, _ in groups))
    in_both = {group for group, _, _ in real}
    assert {shape for shape in ours if shape[0] in in_both} <= real


def test_summaries_follow_the_published_formulas(groups):
    for line, evaluations, _, summary in groups:
        split, collection = line["dataset_type"], line["set_name"]
        order = sorted(evaluations, key=lambda row: (row["dataset"], row["test_idx"]))
        lengths = Counter(dataset_group(row["dataset"]) for row in order)
        assert {group: len(scores) for group, scores in summary["details"].items()} == lengths
        minmax, z_scores = {}, {}
        for group, scores in summary["details"].items():
            constants = normalization_of(split, collection, group)
            minmax[group] = [(s - constants.minimum) / (constants.maximum - constants.minimum) for s in scores]
            z_scores[group] = [(s - constants.mu) / constants.sigma for s in scores]
            assert summary["average"][group] == pytest.approx(fmean(scores))
            for key, values in (
                ("minmax_normalized_average", minmax[group]),
                ("z_normalized_average", z_scores[group]),
            ):
                total, count, mean = summary[key][group]
                assert (total, count, mean) == (
                    pytest.approx(math.fsum(values)),
                    len(values),
                    pytest.approx(fmean(values)),
                )
        everything = [value for values in minmax.values() for value in values]
        assert summary["summary"] == {
            "average": pytest.approx(fmean(fmean(values) for values in minmax.values())),
            "weighted_average": pytest.approx(fmean(everything)),
            "z_score": pytest.approx(fmean(value for values in z_scores.values() for value in values)),
        }


def test_details_repeat_the_main_metric_in_the_order_of_dataset_and_index(groups):
    for _, evaluations, _, summary in groups:
        scores = {}
        for row in sorted(evaluations, key=lambda row: (row["dataset"], row["test_idx"])):
            metric = main_metric(row["dataset"])
            scores.setdefault(dataset_group(row["dataset"]), []).append(metric and row["metrics"][metric])
        for group, values in scores.items():
            low, high = score_range(group, "metrics")
            assert all(low <= score <= high for score in summary["details"][group])
            assert not any(isinstance(score, bool) for score in summary["details"][group])
            if None not in values:
                assert summary["details"][group] == values


def test_one_system_answers_nothing_but_the_error_text_and_one_answer_fails_elsewhere(groups):
    failed = {}
    for line, _, predictions, summary in groups:
        count = sum(row["response"] == FAILED_GENERATION for row in predictions)
        if count:
            system = (line["model"], line["baseline"], line["dataset_type"], line["set_name"])
            failed[system] = (count, len(predictions), summary["summary"]["weighted_average"])
    assert len(failed) == 2
    count, total, weighted_average = failed.pop(FAILED_SYSTEM)
    assert count == total
    assert weighted_average < 0
    assert next(iter(failed.values()))[0] == 1
    assert not any(baseline == "wo_memory" for _, baseline, _, _ in [FAILED_SYSTEM, *failed])


def test_texts_are_english_and_chinese_and_prompts_without_memory_are_short(groups):
    def chinese(text):
        return any("\u4e00" <= character <= "\u9fff" for character in text)

    for line, _, predictions, _ in groups:
        for row in predictions:
            content = row["messages"][-1]["content"]
            assert chinese(content) == (DATASETS[row["dataset"]].language == "zh")
            memories = "Context:" in content or "相关知识" in content
            conversation = row["dataset"].startswith(("Locomo", "DialSim"))
            assert memories == (line["baseline"] != "wo_memory" or conversation)


def test_the_same_arguments_give_the_same_bytes_in_any_process(tmp_path):
    for name, hash_seed in (("one", "1"), ("two", "2")):
        command = [sys.executable, "-m", "pipelines.archive.sample", str(tmp_path / name), "--backbones", "1"]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    one = contents(tmp_path / "one")
    assert one == contents(tmp_path / "two")
    write_sample(tmp_path / "other", backbones=sample.BACKBONES[:1], seed=8)
    assert contents(tmp_path / "other").keys() == one.keys()
    assert contents(tmp_path / "other") != one


def test_two_processes_write_what_one_does(tmp_path, monkeypatch):
    options = {"backbones": ["Qwen3-8B"], "baselines": ["wo_memory", "uno"], "samples": 0.02}
    write_sample(tmp_path / "one", **options)
    monkeypatch.setattr(sample, "_PARALLEL_FROM_CHARS", 0)
    write_sample(tmp_path / "two", **options)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_larger_sample_keeps_the_smaller_ones_questions(tmp_path):
    questions = {}
    for share in (0.02, 0.1):
        write_sample(tmp_path / str(share), backbones=["Qwen3-8B"], baselines=["wo_memory"], samples=share)
        questions[share] = {
            (row["dataset"], row["test_idx"]): row["messages"][-1]["content"]
            for row in read(tmp_path / str(share) / "off-policy-Qwen3-8B/domain/Legal/wo_memory", "predict.json")
        }
    assert len(questions[0.1]) == 25
    assert questions[0.02].items() <= questions[0.1].items()


def test_appending_a_backbone_adds_groups_and_touches_no_other(tmp_path):
    write_sample(tmp_path, backbones=["Qwen3-8B"], samples=0.02)
    before = contents(tmp_path)
    for _ in range(2):
        assert main([str(tmp_path), "--add-backbone", "Gemini-3.5-Flash", "--samples", "0.02"]) == 0
    after = contents(tmp_path)
    manifest = after.pop("manifest.jsonl").decode().splitlines()
    assert manifest[:61] == before.pop("manifest.jsonl").decode().splitlines()
    assert [json.loads(line)["model"] for line in manifest[61:]] == ["Gemini-3.5-Flash"] * 61
    assert before.items() <= after.items()


def test_traps_are_written_as_pythons_json_writes_them(tmp_path):
    write_sample(tmp_path, backbones=["Qwen3-8B"], samples=0.02, traps=True)
    text = "".join(file.decode("ascii") for file in contents(tmp_path).values())
    for token in (
        ": NaN",
        ": -Infinity",
        '\\ud83d"',
        "\\u0000end",
        str(2**70 + 1),
        '"content": null',
        '"latency": 0.5',
    ):
        assert token in text, token
    metrics = [
        row["metrics"]
        for file in tmp_path.rglob("evaluate_details.json")
        for row in json.loads(file.read_text(encoding="ascii"))
    ]
    assert {} in metrics
    assert any(row.get("empty") == [] for row in metrics)
    assert any(row.get("extra_metric", 0) is None for row in metrics)
    responses = [row["response"] for file in tmp_path.rglob("predict.json") for row in json.loads(file.read_text())]
    assert "" in responses
    assert FAILED_GENERATION in responses


def test_a_size_that_makes_no_archive_is_refused(tmp_path):
    with pytest.raises(UsageError, match="above 0"):
        write_sample(tmp_path / "none", samples=0)
    assert not (tmp_path / "none").exists()
    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path / "none"), "--context", "-1"])
    assert stopped.value.code == 2
