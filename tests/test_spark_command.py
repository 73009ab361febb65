"""The engine Spark as far as it goes without Spark: what is refused, and the views' SQL."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.cli import main
from pipelines.commands.arguments import USAGE
from pipelines.load.views import list_views
from pipelines.spark import session
from pipelines.spark.tables import _garbled_keys
from pipelines.spark.views import spark_views


@pytest.mark.parametrize(("missing", "message"), [("pyspark", "pip install '.[spark]'"), ("java", "Java 17")])
def test_spark_that_is_not_installed_is_said_before_anything_is_read(
    missing: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None if missing == "pyspark" else object())
    monkeypatch.setattr(session.shutil, "which", lambda name: None)
    status = main(
        ["build", "--engine", "spark", "--source", str(tmp_path / "none"), "--warehouse", str(tmp_path / "w")]
    )
    assert status == USAGE
    assert message in capsys.readouterr().err
    assert not (tmp_path / "w").exists()


def test_a_master_goes_with_spark_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--master", "local[2]", "--warehouse", str(tmp_path / "w")]) == USAGE
    assert "--master goes with --engine spark" in capsys.readouterr().err


def test_the_command_line_imports_neither_pyspark_nor_pyarrow() -> None:
    code = "import sys, pipelines.cli; pipelines.cli.make_parser(); print({'pyspark', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_view_has_its_sql_for_spark_and_names_are_quoted() -> None:
    views = spark_views(["it's", 'a"b', "a`b", "a\\b"])
    assert sorted(views) == [view.name for view in list_views()]
    summary = views["summary_table_z_score"]
    assert "`a``b`" in summary and "'it\\'s'" in summary and "'a\\\\b'" in summary


def test_keys_that_spark_garbles_are_told_by_their_paths() -> None:
    files = [
        "file:///w/backbone=%25E6%25A8%25A1/baseline=a%2526b/part-0.parquet",
        "file:///w/backbone=Qwen3-8B/baseline=caf%25C3%25A9%252541/part-0.parquet",
    ]
    garbled = {"backbone": {"æ¨¡": "模"}, "baseline": {"cafÃ©%41": "café%41"}}
    assert _garbled_keys(files) == garbled
