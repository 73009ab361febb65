"""Lossless through the whole warehouse: the client gives every published file back as `json.load` reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.archive.groups import ArchiveFile, ArchiveGroup, GroupKey
from pipelines.archive.json_equality import same_json
from pipelines.archive.sample import write_sample
from pipelines.client import MemoryBenchResults
from pipelines.load.group_loader import LoadTask, load_group
from pipelines.load.partitions import partition_file
from pipelines.normalize.restore import restore_file
from schemas import TABLES
from tests.built import warehouse_of
from tests.handmade import A_MEM, evaluation, group_files
from tests.published_archive import PublishedArchive
from tests.strategies import json_values, texts


@pytest.fixture(scope="module")
def sample_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return folder


@pytest.mark.parametrize(
    "archive",
    [
        "real_archive",
        pytest.param("traps_archive", marks=pytest.mark.full),
        pytest.param("generated_archive", marks=pytest.mark.full),
        pytest.param("sample_archive", marks=pytest.mark.full),
    ],
)
def test_every_file_of_every_group_comes_back_equal(archive: str, request: pytest.FixtureRequest) -> None:
    published = PublishedArchive(request.getfixturevalue(archive))
    with MemoryBenchResults.from_warehouse(warehouse_of(published.root)) as results:
        assert len(results.entries) == len(published.groups)
        load: dict[str, Callable[..., Any]] = {
            "summary.json": results.load_summary,
            "evaluate_details.json": results.load_evaluate_details,
            "predict.json": results.load_predict,
            "run_config.json": results.load_run_config,
        }
        for key in published.groups:
            for name in published.files(key):
                assert same_json(load[name](*key), published.load(key, name)), (key, name)


objects = st.dictionaries(texts, json_values(), max_size=4)


@settings(max_examples=15)
@given(metrics=objects, message=json_values(), summary=objects, more=json_values(), config=objects)
def test_arbitrary_json_comes_back_through_parquet(
    metrics: Any, message: Any, summary: Any, more: Any, config: Any
) -> None:
    files = group_files(
        evaluate_details=[evaluation("NFCats", 3, metrics), evaluation("新", 2**60, {"score": 4})],
        predict=[{"test_idx": 3, "messages": [message], "response": None, "dataset": "NFCats", "more": more}],
        summary={"summary": summary, "average": more, "details": {"NFCats": [more]}},
        run_config=config,
    )
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in files.items():
            (folder / file).write_text(json.dumps(content), encoding="utf-8")
        key = GroupKey(*A_MEM)
        listed = [ArchiveFile(file, file, (folder / file).stat().st_size, "") for file in files]
        group = ArchiveGroup(key, None, ".", tuple(listed))
        loaded = load_group(LoadTask(group, {file: folder / file for file in files}, folder / "parquet"))
        assert loaded.facts is not None, loaded.error

        def rows(table: str) -> Any:
            path = partition_file(folder / "parquet", table, key.partition_path)
            return pq.ParquetFile(path).read() if path.exists() else TABLES[table].arrow_schema().empty_table()

        for file, content in files.items():
            expected = json.loads(json.dumps(content))
            assert same_json(restore_file(file, rows, loaded.facts.residue), expected), file
