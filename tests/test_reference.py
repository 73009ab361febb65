"""Reference facts: complete, consistent with one another, and equal to the publisher's own figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.reference import (
    BASELINES,
    DATASETS,
    METRIC_RANGES,
    dataset_group,
    main_metric,
    metric_range,
    normalization,
    normalization_of,
    score_range,
)

ROOT = Path(__file__).resolve().parent.parent


def test_there_are_28_datasets_each_in_one_domain_and_one_task():
    assert len(DATASETS) == 28
    assert {facts.domain for facts in DATASETS.values()} == {"Academic&Knowledge", "Legal", "Open-Domain"}
    assert {facts.task for facts in DATASETS.values()} == {"Long-Long", "Long-Short", "Short-Long", "Short-Short"}
    assert all(name == facts.dataset for name, facts in DATASETS.items())
    assert all(facts.dataset_group == dataset_group(name) for name, facts in DATASETS.items())


@pytest.mark.parametrize(
    ("dataset", "group"),
    [
        ("Locomo-0", "Locomo"),
        ("Locomo-12", "Locomo"),
        ("Locomo", "Locomo"),
        ("Locomo-new", "Locomo-new"),
        ("Locomo-", "Locomo-"),
        ("Locomo-²", "Locomo-²"),
        ("JuDGE", "JuDGE"),
    ],
)
def test_only_numbered_conversations_fold_into_locomo(dataset, group):
    assert dataset_group(dataset) == group


@pytest.mark.parametrize(
    ("dataset", "metric"),
    [
        ("Locomo-3", "f1"),
        ("Locomo-77", "f1"),
        ("DialSim-newshow", "accuracy"),
        ("LexEval-Drafting", "rougel"),
        ("HelloBench-Chat", "avg_score"),
        ("WritingBench-Finance", "score"),
        ("WritingPrompts", "meteor"),
        ("NFCats", "score"),
        ("JuDGE", None),
        ("IdeaBench", None),
        ("LimitGen-Syn", None),
        ("JRE-L", None),
        ("NFCats-2", None),
        ("Something new", None),
    ],
)
def test_a_main_metric_is_known_by_dataset_or_family_and_never_guessed(dataset, metric):
    assert main_metric(dataset) == metric


def test_the_score_range_holds_for_known_groups_under_metrics_alone():
    assert score_range("Locomo", "metrics") == (0, 1)
    assert score_range("NFCats", "metrics") == (1, 5)
    assert score_range("WritingBench-Politics&Law", "metrics") == (1, 10)
    assert score_range("Locomo", "llm_judge") is None
    assert score_range("Something new", "metrics") is None


def test_every_published_minimum_and_maximum_lies_inside_its_score_range():
    for row in normalization():
        low, high = score_range(row.dataset_group, "metrics")
        assert low <= row.minimum <= row.mu <= row.maximum <= high, row


def test_normalization_covers_each_dataset_group_in_its_domain_and_its_task():
    keys = {(row.split, row.collection, row.dataset_group) for row in normalization()}
    assert keys == {("domain", facts.domain, facts.dataset_group) for facts in DATASETS.values()} | {
        ("task", facts.task, facts.dataset_group) for facts in DATASETS.values()
    }
    assert len(keys) == len(normalization())
    assert normalization_of("task", "Legal", "JuDGE") is None
    assert normalization_of("domain", "Legal", "JuDGE").maximum == 10


def test_normalization_equals_the_publishers_constants_to_the_last_digit(archives):
    source = archives.parent / "reference" / "normalization.json"
    if not source.is_file():
        pytest.skip(f"the publisher's constants are not at {source}")
    published = {
        (split, collection, group): tuple(
            constants["summary"][f"dataset_{name}"][group] for name in ("min", "max", "mu", "sigma")
        )
        for split, collections in json.loads(source.read_text(encoding="utf-8")).items()
        for collection, constants in collections.items()
        for group in constants["summary"]["dataset_min"]
    }
    ours = {
        (row.split, row.collection, row.dataset_group): (row.minimum, row.maximum, row.mu, row.sigma)
        for row in normalization()
    }
    assert ours == published


def test_no_published_metric_falls_out_of_its_range(real_archive):
    outside = []
    for file in real_archive.glob("*/*/*/*/evaluate_details.json"):
        for row in json.loads(file.read_text(encoding="utf-8")):
            for metric, value in row["metrics"].items():
                known = metric_range(row["dataset"], metric)
                if known is None or not isinstance(value, int | float):
                    continue
                if (known.minimum is not None and value < known.minimum) or (
                    known.maximum is not None and value > known.maximum
                ):
                    outside.append((row["dataset"], metric, value))
    assert outside == []


def test_metric_ranges_name_known_datasets_once_and_have_no_opinion_on_others():
    for known in METRIC_RANGES:
        matching = [dataset for dataset in DATASETS if metric_range(dataset, known.metric) is known]
        assert matching, f"{known.dataset_pattern} {known.metric} matches no dataset"
    for dataset, facts in DATASETS.items():
        assert facts.main_metric is None or metric_range(dataset, facts.main_metric), dataset
    assert metric_range("NFCats", "avg_score") is None
    assert metric_range("Something new", "f1") is None


def test_baselines_are_keyed_by_their_published_name():
    assert len(BASELINES) == 15
    assert all(name == row.baseline for name, row in BASELINES.items())
    assert [row.baseline for row in BASELINES.values() if row.type == "none"] == ["wo_memory"]


def test_importing_the_reference_loads_nothing_heavy():
    code = "import sys, schemas.reference; print([m for m in ('csv', 'json', 'pandas', 'duckdb') if m in sys.modules])"
    package = "import sys, schemas; print([m for m in ('csv', 'json', 'pandas', 'duckdb') if m in sys.modules])"
    run = [
        subprocess.run([sys.executable, "-c", text], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for text in (code, package)
    ]
    assert run[0] == run[1], "the reference data imports more than the tables' package does"
