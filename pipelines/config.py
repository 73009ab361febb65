"""Defaults, and the environment variables that override them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SAMPLE = "sample"
#: What goes with numbers of the sample wherever they are written.
GENERATED = "Generated sample: its numbers mean nothing."
HUB_PREFIX = "hf://"
#: Who loads groups: worker processes of this machine, or Spark.
LOCAL = "local"
SPARK = "spark"
ENGINES = (LOCAL, SPARK)


def default_source(otherwise: str = SAMPLE) -> str:
    """MBW_SOURCE, or `otherwise`: the bundled sample."""
    return os.environ.get("MBW_SOURCE") or otherwise


def default_warehouse() -> Path:
    """MBW_WAREHOUSE, or ./warehouse."""
    return Path(os.environ.get("MBW_WAREHOUSE") or "warehouse")


def default_jobs() -> int:
    """One worker for each processor that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class BuildOptions:
    """What a build is told beside its source and its warehouse.

    `select` keeps the groups whose keys have one of the given values and leaves all others as they are; `full` reads
    every file again; `jobs` is the number of worker processes, and where they are several, a script that builds needs
    `if __name__ == "__main__":`. With the engine `spark`, groups are loaded by the executors of `master` instead (None:
    in this process, on all processors).
    """

    jobs: int = 1
    select: tuple[tuple[str, str], ...] = ()
    full: bool = False
    embed_prompts: bool = False
    engine: str = LOCAL
    master: str | None = None
