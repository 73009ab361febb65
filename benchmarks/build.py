"""How long a full build takes, against DuckDB's COPY of the predictions alone, in alternation."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from benchmarks.measure import Run, alternate


def compare(archive: Path, scratch: Path, rounds: int) -> str:
    """A table of medians, the ratio, and peak memory; `scratch` is filled and emptied again."""
    warehouse, copied = scratch / "warehouse", scratch / "copy"

    def clean() -> None:
        shutil.rmtree(warehouse, ignore_errors=True)
        shutil.rmtree(copied, ignore_errors=True)

    mbw = [
        sys.executable,
        "-m",
        "pipelines.cli",
        "build",
        "--source",
        str(archive),
        "--warehouse",
        str(warehouse),
        "--json",
    ]
    peer = [sys.executable, "-m", "benchmarks.duckdb_copy", str(archive), str(copied)]
    runs = {"mbw build": Run(mbw, clean, (0, 3)), "DuckDB COPY of predict.json": Run(peer, clean)}
    figures = alternate(runs, rounds)
    clean()
    build, copy = figures["mbw build"], figures["DuckDB COPY of predict.json"]
    lines = [f"{name:<30} {f.median_seconds:8.2f} s {f.max_peak_mib:8.0f} MiB" for name, f in figures.items()]
    return "\n".join([*lines, f"ratio {build.median_seconds / copy.median_seconds:.2f}"])
