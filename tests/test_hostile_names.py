"""Names that mean something to SQL, paths, pages or terminals: they are data from the archive to every answer."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from pipelines import cli
from pipelines.archive.manifest import read_manifest
from pipelines.client import MemoryBenchResults
from pipelines.load.snapshots import Warehouse
from pipelines.quality.validation import write_data_docs
from tests.handmade import HandmadeArchive, Keys, build, evaluation, group_files, group_id, prediction

NAMES = (
    "x'; DROP TABLE results; --",
    "../../etc",
    "<script>alert(1)</script>",
    "a=b/c",
    "🦆",
    'say "hi"',
    "100%2Fsure",
    "{brace} $dollar$ \\ |bar|",
)
LONG = "n" * 300
Mbw = Callable[..., tuple[int, str]]


def metrics(name: str) -> dict[str, Any]:
    return {"score": 4, name: 0.5, f"text {name}": name}


def files(name: str) -> dict[str, Any]:
    """A group whose dataset, metrics, texts and summary all bear the name."""
    return group_files(
        predict=[prediction(name, 1, name), prediction("NFCats", 3)],
        evaluate_details=[evaluation(name, 1, metrics(name)), evaluation("NFCats", 3, {"score": 4})],
        summary={
            "summary": {"weighted_average": 0.5, "average": 0.25, "z_score": 1.5, name: 0.125},
            "average": {name: 0.5, "NFCats": 4.0},
            "details": {name: [0.5], "NFCats": [4]},
        },
        run_config={"memory_system": name, "retrieve_k": 5, name: name},
    )


def keys_of(name: str) -> Keys:
    return ("off-policy", name, "domain", name, name)


class Built:
    def __init__(self, root: Path) -> None:
        self.archive = HandmadeArchive(root / "archive")
        self.warehouse = root / "warehouse"
        for number, name in enumerate((*NAMES, LONG)):
            keys = keys_of(name)
            place = f"group-{number}"
            for baseline in (name, "wo_memory"):
                directory = self.archive.root / place / str(baseline == name)
                directory.mkdir(parents=True)
                for file, content in files(name).items():
                    self.archive.write(directory / file, content)
                line = dict(zip(("exp", "model", "dataset_type", "set_name", "baseline"), keys, strict=True))
                line |= {"baseline": baseline, "run_id": name, "relative_dir": f"{place}/{baseline == name}"}
                self.archive.lines.append({**line, "files": sorted(files(name))})
        self.archive.write_manifest()
        self.report = build(self.archive.root, self.warehouse)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("names"))


@pytest.fixture
def mbw(built: Built, capsys: pytest.CaptureFixture[str]) -> Mbw:
    def run(*arguments: str) -> tuple[int, str]:
        status = cli.main([*arguments, "--warehouse", str(built.warehouse)])
        out, err = capsys.readouterr()
        assert status in (0, 3), err
        return status, out

    return run


def test_all_load_but_the_one_that_no_directory_can_hold(built: Built) -> None:
    assert built.report.groups_by_status == {"complete": 2 * len(NAMES)}
    refused = [f for f in built.report.findings if f.check == "manifest_line"]
    assert [f.record for f in refused] == [2 * len(NAMES), 2 * len(NAMES) + 1]
    assert all("more than 255" in f.message for f in refused)
    assert not (built.warehouse.parent / "etc").exists()
    for path in built.warehouse.resolve().rglob("*"):
        assert path.resolve().is_relative_to(built.warehouse.resolve())


def test_every_table_and_view_has_the_names_as_they_are(built: Built) -> None:
    with duckdb.connect(str(built.warehouse / "memorybench.duckdb"), read_only=True) as connection:

        def column(query: str) -> set[str]:
            return {row[0] for row in connection.execute(query).fetchall()}

        for query in (
            "SELECT backbone FROM results",
            "SELECT collection FROM results",
            "SELECT dataset FROM predictions WHERE dataset <> 'NFCats'",
            "SELECT response FROM predictions WHERE dataset <> 'NFCats'",
            "SELECT metric FROM sample_metrics WHERE metric <> 'score'",
            "SELECT value FROM sample_annotations",
            "SELECT metric FROM summary_metrics WHERE metric NOT IN ('weighted_average', 'average', 'z_score')",
            "SELECT dataset_group FROM dataset_results WHERE dataset_group <> 'NFCats'",
            "SELECT memory_system FROM run_configs",
            "SELECT run_id FROM result_groups",
            "SELECT metric FROM published_history WHERE metric IN (SELECT memory_system FROM run_configs)",
        ):
            assert column(query) == set(NAMES), query
        for name in NAMES:
            where = "WHERE backbone = ? AND collection = ? AND baseline = ?"
            found = connection.execute(f"SELECT weighted_average FROM results {where}", [name] * 3).fetchall()
            assert found == [(0.5,)]
            (pivoted,) = connection.execute(
                f'SELECT "{name.replace(chr(34), chr(34) * 2)}" FROM summary_table_weighted_average '
                "WHERE backbone = ? AND collection = ?",
                [name, name],
            ).fetchall()
            assert pivoted == (0.5,)
        for (view,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall():
            connection.execute(f'SELECT * FROM "{view}"').fetchall()


def test_the_parquet_paths_give_the_names_back(built: Built) -> None:
    pattern = str(built.warehouse / "parquet" / "predictions" / "**" / "*.parquet")
    with duckdb.connect() as connection:
        query = "SELECT DISTINCT backbone FROM read_parquet(?, hive_partitioning = true, hive_types_autocast = false)"
        assert {row[0] for row in connection.execute(query, [pattern]).fetchall()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_client_gives_the_published_objects_back(built: Built, name: str) -> None:
    results = MemoryBenchResults.from_warehouse(built.warehouse)
    assert name in results.list_models("off-policy")
    assert results.list_baselines("off-policy", name, "domain", name) == sorted([name, "wo_memory"])
    for load, file in (
        (results.load_predict, "predict.json"),
        (results.load_evaluate_details, "evaluate_details.json"),
        (results.load_summary, "summary.json"),
        (results.load_run_config, "run_config.json"),
    ):
        assert load(*keys_of(name)) == files(name)[file]
    table = results.summary_table("weighted_average", models=[name])
    assert table[name].tolist() == [0.5]


@pytest.mark.parametrize(
    "shape",
    ["csv", "markdown", *(pytest.param(s, marks=pytest.mark.full) for s in ("json", "parquet", "table", "latex"))],
)
def test_commands_show_the_names_as_data_in_every_format(mbw: Mbw, tmp_path: Path, shape: str) -> None:
    output = tmp_path / "out"
    for command in (
        ["query", "SELECT backbone, collection FROM results ORDER BY ALL"],
        ["table", "results"],
        ["table", "weighted_average"],
        ["table", "coverage"],
    ):
        mbw(*command, "--format", shape, "--output", str(output))
        if shape == "parquet":
            found = set(pq.read_table(output)["backbone"].to_pylist())
        elif shape == "csv":
            found = {row["backbone"] for row in csv.DictReader(io.StringIO(output.read_text(encoding="utf-8")))}
        elif shape == "json":
            found = {row["backbone"] for row in json.loads(output.read_text(encoding="utf-8"))}
        else:
            text = output.read_text(encoding="utf-8")
            lines = text.splitlines()
            assert any("🦆" in line for line in lines)
            if shape == "markdown":
                bars = [line for line in lines if "brace" in line and line.startswith("| ")]
                assert all("|bar|" not in line for line in bars)
            continue
        assert found == set(NAMES)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_a_name_can_be_asked_for(mbw: Mbw, name: str) -> None:
    _, out = mbw("table", "weighted_average", "--backbone", name, "--baseline", name, "--format", "json")
    rows = json.loads(out)
    assert [row["backbone"] for row in rows] == [name]
    assert rows[0][name] == 0.5


@pytest.mark.full
def test_status_and_verify_pass_over_the_names(mbw: Mbw, built: Built) -> None:
    _, out = mbw("status", "--json")
    assert json.loads(out)["groups"] == {"complete": 2 * len(NAMES)}
    mbw("status")
    mbw("verify")


@pytest.mark.full
def test_a_number_that_moves_is_shown_under_its_name(built: Built, tmp_path: Path, mbw: Mbw) -> None:
    warehouse = tmp_path / "moved"
    shutil.copytree(built.warehouse, warehouse, symlinks=True)
    archive = tmp_path / "archive"
    shutil.copytree(built.archive.root, archive)
    for number, name in enumerate(NAMES):
        changed = files(name)["summary.json"]
        changed["summary"][name] = 0.25
        (archive / f"group-{number}" / "True" / "summary.json").write_text(json.dumps(changed))
    build(archive, warehouse)
    _, out = mbw("diff", str(built.warehouse), str(warehouse), "--format", "json")
    moved = [row for row in json.loads(out) if row["change"] == "changed"]
    assert {(row["backbone"], row["baseline"], row["metric"], row["old"], row["new"]) for row in moved} == {
        (name, name, name, 0.125, 0.25) for name in NAMES
    }
    for shape in ("table", "markdown", "latex", "csv"):
        mbw("diff", str(built.warehouse), str(warehouse), "--format", shape)


@pytest.mark.full
def test_pages_hold_no_name_as_markup(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    archive = HandmadeArchive(tmp_path / "archive")
    contents = files(name)
    contents["evaluate_details.json"][1]["metrics"]["score"] = 99  # out of range, so that the pages have rows to show
    directory = archive.root / "group"
    directory.mkdir()
    for file, content in contents.items():
        archive.write(directory / file, content)
    line = dict(zip(("exp", "model", "dataset_type", "set_name", "baseline"), keys_of(name), strict=True))
    archive.lines.append({**line, "run_id": name, "relative_dir": "group", "files": sorted(contents)})
    archive.write_manifest()
    build(archive.root, tmp_path / "warehouse")
    index = write_data_docs(Warehouse(tmp_path / "warehouse").require_current().path)
    pages = [page.read_text(encoding="utf-8") for page in index.parent.rglob("*.html")]
    assert pages
    assert not any(name in page for page in pages)


@pytest.mark.full
def test_a_select_of_a_name_reads_its_groups_alone(built: Built) -> None:
    report = build(built.archive.root, built.warehouse, select=(("backbone", NAMES[0]),), full=True)
    assert {finding.group_id for finding in report.findings if finding.group_id} <= {
        group_id((*keys_of(name)[:4], baseline)) for name in (*NAMES, LONG) for baseline in (name, "wo_memory")
    } | {f.group_id for f in report.findings}
    assert report.groups_by_status == {"complete": 2 * len(NAMES)}


def test_a_manifest_path_that_leaves_the_archive_is_refused() -> None:
    names = ("exp", "model", "dataset_type", "set_name", "baseline")
    for path in ("../../etc", "/etc", "a/../../etc", "a\\..\\b", ""):
        line = {**dict(zip(names, keys_of("a"), strict=True)), "run_id": "r", "relative_dir": path, "files": []}
        entries, findings = read_manifest(json.dumps(line).encode())
        assert entries == []
        assert findings[0].check == "manifest_line"
