"""Twenty readers throughout twenty refreshes: each answer is of one version, none fails, and none goes back in time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.harness import ROOT, leftovers
from tests.handmade import A_MEM, WO_MEMORY, HandmadeArchive, build, folder, prediction

pytestmark = pytest.mark.full
READERS = ("database",) * 12 + ("client",) * 3 + ("parquet",) * 3 + ("held",) * 2
REFRESHES = 20


def publish(archive: HandmadeArchive, number: int) -> None:
    """Another version of both groups: the same samples, another number in all responses."""
    for keys in (A_MEM, WO_MEMORY):
        names = (("NFCats", 3), ("Locomo-0", 1), ("Locomo-1", 0))
        rows = [prediction(*name, f"Answer {number}.") for name in names]
        archive.write(archive.root / folder(keys) / "predict.json", rows)


def test_twenty_readers_see_whole_versions_throughout_twenty_refreshes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, warehouse, stop = HandmadeArchive(tmp_path / "archive"), tmp_path / "warehouse", tmp_path / "stop"
    for keys in (A_MEM, WO_MEMORY):
        archive.add(keys)
    publish(archive, 0)
    build(archive.root, warehouse)
    readers = [
        (
            kind,
            subprocess.Popen(
                [sys.executable, "-m", "tests.faults.reader", str(warehouse), str(stop), kind],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ),
        )
        for kind in READERS
    ]
    # What is read is what is tested here; the checks, most of a small refresh, have tests of their own.
    monkeypatch.setattr("pipelines.quality.validation.validate_snapshot", lambda _: [])
    try:
        for number in range(1, REFRESHES + 1):
            publish(archive, number)
            assert build(archive.root, warehouse).published is not None
        stop.touch()
        for kind, reader in readers:
            out, errors = reader.communicate(timeout=300)
            assert reader.returncode == 0, f"{kind}: {errors}"
            report = json.loads(out)
            if kind == "held":
                assert len(report["seen"]) == 1, report
            else:
                assert report["seen"][-1] == REFRESHES, report
                assert len(report["seen"]) > 1, f"{kind} began when all was over"
    finally:
        for _, reader in readers:
            reader.kill()
            reader.communicate()
    assert leftovers(warehouse) == []
    assert sorted(path.name for path in (warehouse / "snapshots").iterdir()) == [f"{REFRESHES + i:06d}" for i in (0, 1)]
