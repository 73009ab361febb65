"""The generated pages of docs/ say what the program says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines import docs
from pipelines.load.views import list_views
from schemas import TABLES


@pytest.mark.parametrize("name", docs.pages())
def test_the_page_is_up_to_date(name: str) -> None:
    text = (docs.DOCS / name).read_text(encoding="utf-8")
    assert text == docs.pages()[name], "write it again with: make docs"


def test_every_table_view_and_command_has_a_section() -> None:
    pages = docs.pages()
    for name in [*TABLES, *(view.name for view in list_views())]:
        assert f"\n### {name}\n" in pages["tables.md"]
    for command in ("build", "status", "query", "table", "verify"):
        assert f"\n## mbw {command}\n" in pages["commands.md"]


def test_pages_do_not_depend_on_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = docs.pages()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("MBW_WAREHOUSE", "/elsewhere")
    assert docs.pages() == before


def test_check_says_which_page_is_out_of_date(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs, "DOCS", tmp_path / "docs")
    assert docs.main(["--check"]) == 1
    assert "docs/tables.md is out of date. Write it again with: make docs" in capsys.readouterr().err
    assert not (tmp_path / "docs").exists()
    assert docs.main([]) == 0
    assert docs.main(["--check"]) == 0
