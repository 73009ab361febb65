"""Lossless: whatever JSON stands in the four files comes back equal from the rows, order of keys included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.archive.groups import GroupKey
from pipelines.archive.json_equality import same_json
from pipelines.archive.json_reader import loads
from pipelines.normalize import evaluate_details, predict, run_config, summary
from pipelines.normalize.group import GroupFacts, normalize_group
from schemas import TABLES
from tests.handmade import A_MEM, group_files
from tests.strategies import json_values, texts

datasets = st.sampled_from(["Locomo-0", "Locomo-1", "NFCats", "JuDGE", "DialSim-friends", "A new one", "数据"])
keys = st.tuples(datasets, st.integers(-(2**62), 2**62))
objects = st.dictionaries(texts, json_values(), max_size=4)


def normalized(files: dict[str, Any]) -> tuple[GroupFacts, dict[str, pa.Table]]:
    batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in TABLES}
    data = {name: json.dumps(content).encode() for name, content in files.items()}
    facts = normalize_group(GroupKey(*A_MEM), "a/b", data, lambda table, batch: batches[table].append(batch))
    return facts, {name: pa.Table.from_batches(b, TABLES[name].arrow_schema()) for name, b in batches.items()}


def given_back(facts: GroupFacts, tables: dict[str, pa.Table]) -> dict[str, Any]:
    residues = loads(facts.residue.encode()) if facts.residue else {}
    scores = tables["sample_scores"]
    protocols = tables["summary_metrics"]["protocol"].to_pylist() or ["metrics"]
    return {
        "predict.json": predict.denormalize(tables["predictions"], tables["prompts"]),
        "evaluate_details.json": evaluate_details.denormalize(
            tables["evaluations"], tables["sample_metrics"], tables["sample_annotations"]
        ),
        "summary.json": summary.denormalize(
            tables["summary_metrics"],
            tables["summary_datasets"],
            scores.filter(pc.equal(scores["protocol"], protocols[0])),
            residues.get("summary.json"),
        ),
        "run_config.json": run_config.denormalize(tables["run_configs"]) if tables["run_configs"].num_rows else None,
    }


def assert_round_trip(**replaced: Any) -> None:
    files = group_files(**replaced)
    facts, tables = normalized(files)
    back = given_back(facts, tables)
    for name, content in files.items():
        assert same_json(back[name], json.loads(json.dumps(content))), name


def shuffled(record: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.permutations(list(record)).map(lambda order: {key: record[key] for key in order})


@given(st.lists(st.tuples(keys, json_values(), objects), max_size=4, unique_by=lambda row: row[0]), st.data())
def test_arbitrary_metrics_and_unknown_keys(rows: list[Any], data: st.DataObject) -> None:
    records = []
    for (dataset, test_idx), value, metrics in rows:
        known = {"test_idx": test_idx, "metrics": metrics, "dataset": dataset}
        records.append(data.draw(shuffled({**known, **({"note": value} if value else {})})))
    assert_round_trip(evaluate_details=records, summary=None)


@given(
    st.lists(
        st.tuples(
            keys,
            json_values() | st.lists(st.fixed_dictionaries({"role": texts, "content": texts | st.none()}), max_size=3),
            texts | st.none(),
            objects,
        ),
        max_size=4,
        unique_by=lambda row: row[0],
    ),
    st.data(),
)
def test_arbitrary_messages_responses_and_unknown_keys(rows: list[Any], data: st.DataObject) -> None:
    records = []
    for (dataset, test_idx), messages, response, more in rows:
        known = {"test_idx": test_idx, "messages": messages, "response": response, "dataset": dataset}
        records.append(data.draw(shuffled({**more, **known})))
    assert_round_trip(predict=records)


numbers_by_dataset = st.dictionaries(texts | datasets, json_values(), max_size=4)
score_lists = st.dictionaries(texts | datasets, st.lists(json_values(3), max_size=4), max_size=4)


@given(
    objects,
    st.none() | json_values() | numbers_by_dataset,
    st.none() | json_values() | numbers_by_dataset,
    st.none() | json_values() | score_lists,
    objects,
    st.data(),
)
def test_arbitrary_summaries(
    published: dict[str, Any], average: Any, minmax: Any, details: Any, more: dict[str, Any], data: st.DataObject
) -> None:
    parts = {"average": average, "minmax_normalized_average": minmax, "details": details}
    document = {**more, "summary": published, **{key: part for key, part in parts.items() if part is not None}}
    assert_round_trip(summary=data.draw(shuffled(document)))


@given(objects)
def test_arbitrary_run_configs(config: dict[str, Any]) -> None:
    assert_round_trip(run_config=config)


@pytest.mark.parametrize(
    "replaced",
    [
        pytest.param({"predict": []}, id="no predictions"),
        pytest.param({"evaluate_details": []}, id="no evaluations"),
        pytest.param({"summary": {"summary": {}}}, id="a summary of nothing"),
        pytest.param(
            {"summary": {"summary": {}, "details": {"NFCats": [True, None, 1, 1.0, "x"]}}}, id="scores of all types"
        ),
        pytest.param(
            {"summary": {"summary": {"average": 10**400}, "details": {"NFCats": [10**400, -(10**400), 2**70, 1]}}},
            id="integers that no float holds",
        ),
        pytest.param({"summary": {"details": {"NFCats": []}, "summary": {}}}, id="a dataset without scores"),
        pytest.param(
            {"summary": {"summary": {"metric": "llm_judge_score"}, "details": {"NFCats": [0]}}}, id="a judge's"
        ),
    ],
)
def test_the_corners(replaced: dict[str, Any]) -> None:
    assert_round_trip(**replaced)


@pytest.mark.parametrize("fixture", ["real_archive", "generated_archive", "traps_archive"])
def test_every_group_of_an_archive(fixture: str, request: pytest.FixtureRequest) -> None:
    root: Path = request.getfixturevalue(fixture)
    compared = 0
    for folder in sorted({path.parent for path in root.glob("*/*/*/*/*.json")}):
        files = {path.name: json.loads(path.read_bytes()) for path in folder.glob("*.json")}
        facts, tables = normalized(files)
        back = given_back(facts, tables)
        for name, content in files.items():
            assert same_json(back[name], content), f"{folder}/{name}"
            compared += 1
    assert compared > 700
