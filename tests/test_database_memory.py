"""Texts of megabytes: DuckDB is given more memory where the first limit does not do, and a build that fails says so."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from pipelines.errors import WarehouseError
from pipelines.load import connection, database
from pipelines.load.snapshots import DATABASE
from tests.conftest import leave_out_checks
from tests.handmade import A_MEM, WO_MEMORY, HandmadeArchive, build, evaluation, group_files, prediction
from tests.warehouse_content import content

N, BYTES = 60, 1_500_000


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    leave_out_checks(monkeypatch)
    archive = HandmadeArchive(tmp_path / "archive")
    long = [prediction("NFCats", i, f"{i} " + chr(97 + i % 26) * BYTES) for i in range(N)]
    evaluations = [evaluation("NFCats", i, {"score": 1}) for i in range(N)]
    archive.add(A_MEM, group_files(predict=long, evaluate_details=evaluations, summary=None))
    archive.add(WO_MEMORY)
    return archive.root


def test_the_next_limit_is_tried(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(archive, tmp_path / "plain")
    tried = []
    connect = database.connect
    monkeypatch.setattr(connection, "MEMORY_LIMITS", (40, 1600))
    monkeypatch.setattr(database, "connect", lambda spill, limit: tried.append(limit) or connect(spill, limit))
    build(archive, tmp_path / "retried")
    assert tried == [40, 1600]
    assert content(tmp_path / "retried") == content(tmp_path / "plain")
    with duckdb.connect(str(tmp_path / "retried" / DATABASE), read_only=True) as opened:
        assert opened.execute("SELECT max(length(response)) FROM predictions").fetchone() == (BYTES + 3,)


def test_the_last_limit_is_named(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MEMORY_LIMITS", (40,))
    with pytest.raises(WarehouseError, match=r"more than 40 MB of memory.*Nothing was published"):
        build(archive, tmp_path / "warehouse")
    assert list((tmp_path / "warehouse" / "snapshots").iterdir()) == []
