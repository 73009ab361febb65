"""Exports against a real S3 server on loopback, written by mbw and read by pyarrow, pandas, Polars and DuckDB."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from pipelines.cli import main
from pipelines.commands.arguments import DONE, FAILED
from pipelines.export.layout import ExportOptions
from pipelines.export.s3 import export_to_s3, latest_snapshot, open_s3
from pipelines.export.snapshot import export_folder
from schemas import TABLES
from schemas.model import KEYS
from tests.conftest import leave_out_checks
from tests.consumers import ODD_KEYS, checksums, declared_source, example
from tests.handmade import HandmadeArchive, build

pytestmark = pytest.mark.full

pytest.importorskip("moto", reason="moto is not installed; make test-full installs it")

URL = "s3://results/memorybench/published"
FLAVOR = ds.partitioning(pa.schema([(key, pa.string()) for key in KEYS]), flavor="hive")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An S3 server with one bucket; the environment names it while the tests of this file run."""
    log = tmp_path_factory.mktemp("moto") / "log"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with open(log, "wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream)
    try:
        endpoint = _address(log, process)
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("AWS_") or name.lower().endswith("_proxy")]:
                patch.delenv(name)
            patch.setenv("AWS_ACCESS_KEY_ID", "test")
            patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
            patch.setenv("AWS_REGION", "us-east-1")
            patch.setenv("AWS_ENDPOINT_URL", endpoint)
            urllib.request.urlopen(urllib.request.Request(f"{endpoint}/results", method="PUT"), timeout=30).close()
            yield endpoint
    finally:
        process.terminate()
        process.wait(timeout=30)


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    waiter = threading.Event()
    for _ in range(1200):
        for word in log.read_text(errors="replace").split():
            if word.startswith("http://127.0.0.1:"):
                return word
        assert process.poll() is None, log.read_text(errors="replace")
        waiter.wait(0.1)
    raise AssertionError(log.read_text(errors="replace"))


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("store")
    archive = HandmadeArchive(root / "archive")
    for number, keys in enumerate(ODD_KEYS):
        archive.add(keys, relative_dir=f"group/{number}").rename(_made(root / "archive" / "group") / str(number))
    with pytest.MonkeyPatch.context() as patch:
        leave_out_checks(patch)
        build(archive.root, root / "warehouse")
    return root / "warehouse"


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def snapshot(server: str, warehouse: Path) -> str:
    """Where the latest snapshot is, in files with the keys inside."""
    assert main(["export", URL, "--prompts", "--warehouse", str(warehouse)]) == DONE
    return latest_snapshot(URL)


@pytest.fixture(scope="module")
def partitioned(server: str, warehouse: Path) -> str:
    """Where one is as the warehouse has it."""
    export_to_s3(warehouse, "s3://results/hive", ExportOptions(prompts=True, partitioned=True))
    return latest_snapshot("s3://results/hive")


def expected(warehouse: Path, name: str) -> pa.Table:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.sql(f"FROM {declared_source(warehouse / 'parquet', TABLES[name])}").to_arrow_table()


@pytest.mark.parametrize("name", ["predictions", "prompts", "sample_metrics", "result_groups", "refreshes"])
def test_pyarrow_reads_every_row(warehouse: Path, snapshot: str, partitioned: str, name: str) -> None:
    table = TABLES[name]
    for location in (snapshot, partitioned):
        filesystem, root = open_s3(location)
        hive = FLAVOR if table.grouped and location == partitioned else None
        dataset = ds.dataset(f"{root}/data/{name}", filesystem=filesystem, format="parquet", partitioning=hive)
        rows = dataset.to_table(columns=[column.name for column in table.database_columns])
        assert checksums(rows, table) == checksums(expected(warehouse, name), table)


def test_duckdb_reads_it_through_arrow_and_reads_only_what_a_filter_asks_for(partitioned: str) -> None:
    filesystem, root = open_s3(partitioned)
    predictions = ds.dataset(f"{root}/data/predictions", filesystem=filesystem, partitioning=FLAVOR)
    with duckdb.connect() as connection:
        connection.register("predictions", predictions)
        query = "SELECT count(*), any_value(group_id) FROM predictions WHERE backbone = '模型-8B'"
        assert connection.execute(query).fetchone() == (3, "/".join(ODD_KEYS[3]))
    assert len(list(predictions.get_fragments(filter=ds.field("backbone") == "模型-8B"))) == 1


def storage_options(server: str) -> dict[str, str]:
    """What Polars is told; it does not read all of it from the environment."""
    return {
        "aws_endpoint_url": server,
        "aws_access_key_id": "test",
        "aws_secret_access_key": "test",
        "aws_region": "us-east-1",
        "aws_allow_http": "true",
    }


def test_polars_reads_it(server: str, warehouse: Path, snapshot: str, partitioned: str) -> None:
    options = storage_options(server)
    whole = pl.scan_parquet(f"{snapshot}/data/sample_scores/*.parquet", storage_options=options)
    hive = pl.scan_parquet(
        f"{partitioned}/data/sample_scores/",
        storage_options=options,
        hive_partitioning=True,
        hive_schema=dict.fromkeys(KEYS, pl.String()),
    )
    columns = [column.name for column in TABLES["sample_scores"].database_columns]
    rows = sorted(map(repr, expected(warehouse, "sample_scores").to_pylist()))
    for scan in (whole, hive):
        assert sorted(map(repr, scan.select(columns).collect().to_dicts())) == rows
    assert hive.filter(pl.col("backbone") == "2024").select(pl.len()).collect().item() == 3


def test_pandas_reads_it(warehouse: Path, snapshot: str) -> None:
    filesystem, root = open_s3(snapshot)
    frame = pd.read_parquet(f"{root}/data/results/part-00000.parquet", filesystem=filesystem)
    assert set(frame["baseline"]) == {keys[4] for keys in ODD_KEYS}


def test_the_latest_snapshot_moves_on_and_the_old_one_stays(warehouse: Path, snapshot: str) -> None:
    export_to_s3(warehouse, URL, ExportOptions())
    latest = latest_snapshot(URL)
    assert latest != snapshot
    for location in (latest, snapshot):
        filesystem, root = open_s3(location)
        with filesystem.open_input_stream(f"{root}/README.md") as stream:
            assert stream.read().startswith(b"---\nlicense: mit\n")


def test_a_reader_sees_whole_snapshots_while_others_are_written(warehouse: Path, server: str) -> None:
    """What latest.json names holds all files that its own snapshot.json lists, at any moment."""
    url = "s3://results/busy"
    export_to_s3(warehouse, url, ExportOptions())
    done = threading.Event()
    seen: set[str] = set()
    broken: list[str] = []

    def read() -> None:
        from pyarrow.fs import FileSelector

        from pipelines.archive.json_reader import loads

        while not done.is_set():
            location = latest_snapshot(url)
            seen.add(location)
            filesystem, root = open_s3(location)
            with filesystem.open_input_stream(f"{root}/snapshot.json") as stream:
                files: list[dict[str, Any]] = loads(stream.read())["files"]
            sizes = {i.path: i.size for i in filesystem.get_file_info(FileSelector(root, recursive=True))}
            broken.extend(f["path"] for f in files if sizes.get(f"{root}/{f['path']}") != f["bytes"])

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(2):
            export_to_s3(warehouse, url, ExportOptions())
    finally:
        done.set()
        reader.join()
    assert not broken
    assert len(seen) > 1


def test_a_store_that_refuses_fails_and_says_so(
    server: str, warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "s3://no-such-bucket/x", "--warehouse", str(warehouse)]) == FAILED
    assert "s3://no-such-bucket/x cannot be written" in capsys.readouterr().err
    from pipelines.errors import WarehouseError

    with pytest.raises(WarehouseError, match=r"latest\.json"):
        latest_snapshot("s3://results/nothing-here")


def test_the_example_of_the_page_on_readers_runs(server: str, warehouse: Path) -> None:
    urllib.request.urlopen(urllib.request.Request(f"{server}/bucket", method="PUT"), timeout=30).close()
    export_to_s3(warehouse, "s3://bucket/prefix", ExportOptions())
    names: dict[str, Any] = {"ds": ds, "pd": pd, "pl": pl, "duckdb": duckdb, "options": storage_options(server)}
    exec(example("S3"), names)
    n = 3 * len(ODD_KEYS)
    assert (names["scores"].count_rows(), names["scan"].collect().height, len(names["frame"])) == (n, n, len(ODD_KEYS))


def test_the_example_for_the_datasets_library_runs(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed; make test-full installs it")
    export_folder(warehouse, tmp_path / "out", ExportOptions())
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(example("Exports").replace('split="train"', 'split="train", cache_dir="cache"'), names)
    assert names["results"].num_rows == len(ODD_KEYS)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_datasets_library_loads_every_configuration(warehouse: Path, tmp_path: Path, kind: Any) -> None:
    """As the Hub's viewer does: by the configurations of the card."""
    datasets = pytest.importorskip("datasets", reason="datasets is not installed; make test-full installs it")
    manifest = export_folder(warehouse, tmp_path / "export", ExportOptions(kind))
    folder = str(tmp_path / "export")
    names = datasets.get_dataset_config_names(folder)
    assert set(names) == {name for name, count in manifest["rows"].items() if count}
    assert datasets.get_dataset_default_config_name(folder) == "results"
    for name in names:
        loaded = datasets.load_dataset(folder, name, split="train", cache_dir=str(tmp_path / "cache"))
        assert loaded.num_rows == manifest["rows"][name], name
        if kind == "parquet" and name in TABLES:
            rows = loaded.with_format("arrow")[:]
            assert checksums(rows, TABLES[name]) == checksums(expected(warehouse, name), TABLES[name])
