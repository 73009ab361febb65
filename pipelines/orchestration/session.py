"""One build shared by the steps of one Dagster run: its lock, its unfinished snapshot, and how far it got.

Each step asks for the build to be brought up to some point, and whatever is missing until there is done then. So any
selection of assets gives a whole refresh, and publishing comes last. Knows nothing of Dagster.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from pipelines.archive.sources import open_source
from pipelines.config import BuildOptions
from pipelines.load.snapshots import Snapshot, Warehouse
from pipelines.refresh import Plan, RefreshRun

Step = Literal["plan", "load", "assemble", "build_database", "validate", "publish"]
_STEPS: tuple[Step, ...] = ("plan", "load", "assemble", "build_database", "validate", "publish")
_ALWAYS = ("plan", "load", "assemble")


class BuildSession:
    """Open it by making it; `close` gives the lock back and deletes what was not published."""

    def __init__(self, address: str, warehouse: Path | str, options: BuildOptions) -> None:
        self._stack = ExitStack()
        try:
            source = self._stack.enter_context(open_source(address))
            self.warehouse = Warehouse(warehouse)
            self.run = self._stack.enter_context(RefreshRun.open(source, self.warehouse, options))
        except BaseException:
            self._stack.close()
            raise
        self.options = options
        self.seconds: dict[str, float] = {}
        self._results: dict[str, Any] = {}

    def upto(self, step: Step) -> None:
        """Do what is missing up to `step`. Where nothing changed, the steps after `assemble` are left out: what is
        published stays. A step that raised is done again the next time."""
        for name in _STEPS[: _STEPS.index(step) + 1]:
            if name in self._results or (name not in _ALWAYS and not self.differs):
                continue
            started = perf_counter()
            self._results[name] = getattr(self.run, name)()
            self.seconds[name] = perf_counter() - started

    @property
    def plan(self) -> Plan:
        plan: Plan = self._results["plan"]
        return plan

    @property
    def differs(self) -> bool:
        """Whether the archive differs from what is published."""
        return bool(self._results["assemble"])

    @property
    def rows_by_group(self) -> dict[str, dict[str, Any]]:
        """The rows of result_groups after this build, by group id."""
        return self.run.rows_by_group

    @property
    def snapshot(self) -> Snapshot:
        """What is published: by this build, or before it where nothing changed."""
        return self.warehouse.require_current()

    @property
    def unpublished(self) -> Path | None:
        """The folder of the unfinished snapshot, to look at when a check stopped it."""
        return self.run.unpublished

    def close(self) -> None:
        """Give the lock back; what was not published is deleted."""
        self._stack.close()
