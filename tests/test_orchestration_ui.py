"""`mbw ui`: the state folder, and in the full tests the real webserver and daemon."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipelines.cli import main
from pipelines.orchestration.instance import instance_config, prepare_home
from tests.browsers import chromium, opened_browser
from tests.conftest import ROOT
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, folder, group_id

RUNNING = 180.0


def test_dagster_yaml_says_what_mbw_ui_writes() -> None:
    written = yaml.safe_load(instance_config("warehouse/.dagster"))
    assert yaml.safe_load((ROOT / "dagster.yaml").read_text()) == written


def test_any_folder_can_hold_the_state(tmp_path: Path) -> None:
    home = prepare_home(tmp_path / "o'clock: {x} #1")
    config = yaml.safe_load((home / "dagster.yaml").read_text())
    assert config["storage"]["sqlite"]["base_dir"] == f"{home}/storage"


def test_a_taken_port_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["ui", "--warehouse", str(tmp_path / "w"), "--port", str(port)]) == 2
    assert "Choose another with --port" in capsys.readouterr().err


def test_ctrl_c_says_at_once_that_it_is_stopping(tmp_path: Path) -> None:
    """The child takes the signal and ends only when it is told, which is after the message has been read."""
    child = "import signal, sys; signal.signal(signal.SIGINT, lambda *_: None); print(flush=True); sys.stdin.read()"
    program = (
        "import subprocess, sys\n"
        "from pipelines.commands.ui import _wait\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)\n"
        "sys.exit(_wait(child))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        assert process.stdout.readline() == b"\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline().decode() == "mbw: stopping… (up to 20 s)\n"
        process.stdin.close()
        assert process.wait(60) == 0


class Ui:
    """A running `mbw ui` and its GraphQL interface."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process = process
        self.address = f"http://127.0.0.1:{port}"
        self.log = log

    def ask(self, query: str, **variables: Any) -> Any:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.address}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            told = json.loads(answer.read())
        assert "errors" not in told, told
        return told["data"]

    def wait_for(self, what: str, look: Any) -> Any:
        end = time.monotonic() + RUNNING
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()
            try:
                if found := look():
                    return found
            except OSError:
                pass
            time.sleep(0.5)
        raise AssertionError(f"{what} did not come within {RUNNING:.0f} s:\n{self.log.read_text()[-4000:]}")


@pytest.fixture
def archive(tmp_path: Path) -> HandmadeArchive:
    made = HandmadeArchive(tmp_path / "archive")
    for keys in (A_MEM, WO_MEMORY, MEM0):
        made.add(keys)
    made.write(made.root / folder(A_MEM) / "predict.json", b"[")
    return made


@pytest.fixture
def ui(tmp_path: Path, archive: HandmadeArchive) -> Iterator[Ui]:
    """`mbw ui` started from a folder that is neither the project nor the warehouse."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    log = tmp_path / "ui.log"
    command = [sys.executable, "-m", "pipelines.entry", "ui", "--port", str(port)]
    command += ["--source", str(archive.root), "--warehouse", "../w"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(elsewhere)}
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=elsewhere, env=environment, stdout=output, stderr=output)
    try:
        yield Ui(process, port, log)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()


LAUNCH = """
mutation ($location: String!, $repository: String!) {
  launchRun(executionParams: {selector: {
    repositoryLocationName: $location, repositoryName: $repository, pipelineName: "refresh"
  }, mode: "default", runConfigData: {}}) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
    ... on RunConfigValidationInvalid { errors { message } }
  }
}
"""
REPOSITORY = "{ repositoriesOrError { __typename ... on RepositoryConnection { nodes { name location { name } } } } }"
STATUS = "query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
CHECKS = """
{ assetNodes(assetKeys: [{path: ["result_group"]}, {path: ["predictions"]}]) {
    assetKey { path }
    partitionKeys
    assetChecksOrError { ... on AssetChecks { checks {
      name
      executionForLatestMaterialization { status evaluation { success description } }
    } } }
    assetMaterializations(limit: 10) { partition metadataEntries { label } }
} }
"""


@pytest.mark.full
def test_a_run_launched_in_the_ui_succeeds_and_shows_the_bad_group(ui: Ui, tmp_path: Path) -> None:
    def repositories() -> Any:
        return ui.ask(REPOSITORY)["repositoriesOrError"].get("nodes")

    [repository] = ui.wait_for("the code location", repositories)
    launched = ui.ask(LAUNCH, location=repository["location"]["name"], repository=repository["name"])["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    run_id = launched["run"]["runId"]

    def ended() -> Any:
        status = ui.ask(STATUS, id=run_id)["runOrError"]["status"]
        return status if status in ("SUCCESS", "FAILURE", "CANCELED") else None

    assert ui.wait_for("the end of the run", ended) == "SUCCESS", ui.log.read_text()
    groups, predictions = sorted(ui.ask(CHECKS)["assetNodes"], key=lambda n: n["assetKey"]["path"], reverse=True)
    assert sorted(groups["partitionKeys"]) == sorted(map(group_id, (A_MEM, WO_MEMORY, MEM0)))
    checks = {c["name"]: c["executionForLatestMaterialization"] for c in groups["assetChecksOrError"]["checks"]}
    assert checks["validity"]["evaluation"]["success"]
    read = {m["partition"] for m in groups["assetMaterializations"]} - {None}
    assert read == {group_id(WO_MEMORY), group_id(MEM0)}
    checks = {c["name"]: c["executionForLatestMaterialization"] for c in predictions["assetChecksOrError"]["checks"]}
    assert checks["expectations"]["evaluation"]["success"]
    assert (tmp_path / "w" / "memorybench.duckdb").exists()
    assert (tmp_path / "w" / ".dagster" / "storage").is_dir()
    if chromium() is not None:
        look_at(ui, tmp_path)
    children = _below(ui.process.pid)
    assert children
    ui.process.send_signal(signal.SIGINT)
    assert ui.process.wait(60) == 0
    end = time.monotonic() + 10
    while left := [pid for pid in children if _is_alive(pid)]:
        assert time.monotonic() < end, left
        time.sleep(0.1)
    if chromium() is None:
        pytest.skip("no Chromium to look at the pages; everything before was checked")


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _below(pid: int) -> list[int]:
    """The processes below one, all generations."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        below = [child for child, parent in parents.items() if parent == one]
        found += below
        todo += below
    return found


def look_at(ui: Ui, downloads: Path) -> None:
    """The lineage and a group's checks, as a browser draws them."""
    shown = {
        "/asset-groups": ["archive", "tables", "database", "views", "report"],
        "/assets/result_group?view=lineage": ["manifest", "predictions"],
        "/assets/result_group?view=checks": ["input_contract", "validity"],
    }
    with opened_browser(downloads) as browser:
        page = browser.new_page(viewport={"width": 2200, "height": 1400})
        for path, texts in shown.items():
            page.goto(f"{ui.address}{path}", timeout=RUNNING * 1000)
            for text in texts:
                page.get_by_text(text, exact=True).first.wait_for(timeout=RUNNING * 1000)
