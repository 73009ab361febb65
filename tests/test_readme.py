"""The README's queries give the output that it shows, on the bundled sample."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pipelines.archive.sample import write_sample
from pipelines.cli import main
from tests.built import warehouse_of
from tests.conftest import ROOT

pytestmark = pytest.mark.full

README = (ROOT / "README.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```console\n\$ (mbw query .*)\n((?:[^`\n].*\n)+)```", README)
COMMANDS = re.findall(r"^\$ (mbw (?:table|status|verify) ?.*)$", README, re.MULTILINE)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = tmp_path_factory.mktemp("sample")
    write_sample(archive)
    return warehouse_of(archive)


def test_there_are_five_queries() -> None:
    assert len(QUERIES) == 5


@pytest.mark.parametrize(("command", "output"), QUERIES, ids=lambda text: text[:60])
def test_a_query_gives_the_output_shown(
    command: str, output: str, warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*shlex.split(command)[1:], "--warehouse", str(warehouse)]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == output.splitlines()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_works_as_written(command: str, warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*shlex.split(command)[1:], "--warehouse", str(warehouse)]) == 0
    assert capsys.readouterr().out
