"""The one use case: bring a warehouse up to date with an archive.

plan (which groups are new, changed, gone) -> load those, in parallel -> assemble the new snapshot -> build its
database -> validate -> publish. Each step is a method of `RefreshRun`, so that the command line and the orchestration
run the same code; neither holds logic.
"""

from __future__ import annotations

import errno
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from pipelines.archive.groups import ArchiveGroup, Listing
from pipelines.archive.source import Source
from pipelines.config import SAMPLE, SPARK, BuildOptions
from pipelines.errors import SourceError, UsageError, WarehouseError
from pipelines.findings import Finding
from pipelines.load import assembly
from pipelines.load.group_loader import LoadedGroup, LoadTask
from pipelines.load.lock import warehouse_lock
from pipelines.load.presence import incomplete_groups
from pipelines.load.signatures import SignatureCache
from pipelines.load.snapshots import DATABASE, FORMAT, PARQUET, Snapshot, SnapshotInfo, Warehouse
from pipelines.load.workers import load_groups
from schemas.model import KEYS
from schemas.result_groups import BAD, GOOD

#: Seconds; Python's own is 5 ms.
_SWITCH_INTERVAL = 0.00005


class Progress:
    """What a long step tells whoever watches. This one tells nobody; the command line draws bars."""

    def start(self, step: str, total: int) -> None:
        """A step begins; `total` counts its groups (0: unknown)."""

    def advance(self, group_id: str, n_bytes: int) -> None:
        """One group is done."""

    def end(self) -> None:
        """The step is over."""


@dataclass(frozen=True)
class Plan:
    """What has to be done. `kept` are groups that stay as they are: unchanged, or outside of the selection."""

    listing: Listing
    previous: Snapshot | None
    previous_rows: dict[str, dict[str, Any]]
    to_load: list[ArchiveGroup]
    kept: list[str]
    removed: list[str]


@dataclass
class RefreshReport:
    """What a refresh did. `published` is None where nothing had changed; then the counts are zero."""

    source: str
    revision: str
    published: Snapshot | None
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    groups_by_status: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    #: Groups that were loaded again because files of theirs were missing in the warehouse.
    repaired: list[str] = field(default_factory=list)
    #: What went wrong once the snapshot was published, in sentences.
    warnings: list[str] = field(default_factory=list)
    #: Where what was published before came from; None where nothing was.
    previous_source: str | None = None
    bytes_read: int = 0
    #: How long each step took.
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def n_bad_groups(self) -> int:
        """Groups whose newest files could not be loaded."""
        return sum(self.groups_by_status.get(status, 0) for status in BAD)

    @property
    def needs_attention(self) -> bool:
        """Published, but a group is quarantined or stale, a check failed, or what follows the publication did: exit
        status 3."""
        return bool(self.n_bad_groups or self.warnings) or any(finding.severity == "error" for finding in self.findings)


def refresh(
    source: Source, warehouse: Warehouse, options: BuildOptions | None = None, progress: Progress | None = None
) -> RefreshReport:
    """Bring the warehouse up to date with the source and publish the result, or leave it untouched.

    Raises:
        SourceError: the archive cannot be read as a whole.
        WarehouseLocked: another build is running.
        WarehouseError: the warehouse cannot be written.
        PublicationBlocked: a check on a whole table failed.
    """
    with RefreshRun.open(source, warehouse, options, progress) as run:
        for step in (run.plan, run.load, run.assemble, run.build_database, run.validate, run.publish):
            started = perf_counter()
            result = step()
            run.report.seconds[step.__name__] = round(perf_counter() - started, 3)
            if result is False:  # assemble found nothing to publish
                break
        return run.report


class RefreshRun:
    """One refresh, step by step. Open it with `RefreshRun.open`, which holds the lock and cleans up.

    Call `plan`, `load`, `assemble`; where `assemble` says that something changed, `build_database`, `validate` and
    `publish`.
    """

    def __init__(self, source: Source, warehouse: Warehouse, options: BuildOptions, progress: Progress) -> None:
        self.source = source
        self.warehouse = warehouse
        self.options = options
        self.progress = progress
        self.started = datetime.now(UTC)
        self.report = RefreshReport(source.name, "", None)
        self._signatures = SignatureCache(warehouse.root)
        self._plan: Plan | None = None
        self._partial: Path | None = None
        self._assembly: assembly.Assembly | None = None
        self.loaded: list[LoadedGroup] = []

    @classmethod
    @contextmanager
    def open(
        cls, source: Source, warehouse: Warehouse, options: BuildOptions | None = None, progress: Progress | None = None
    ) -> Iterator[RefreshRun]:
        """Hold the warehouse's lock while the body runs; whatever was not published by its end is deleted."""
        warehouse.create()
        with warehouse_lock(warehouse.root):
            before = warehouse.published()
            try:
                warehouse.adopt()
                yield cls(source, warehouse, options or BuildOptions(), progress or Progress())
            except OSError as error:
                raise _storage_error(warehouse, error, warehouse.published() != before) from error
            finally:
                # What cannot be deleted now must not hide why the build ends; the next build begins with this.
                with suppress(OSError):
                    warehouse.clean()

    @property
    def unpublished(self) -> Path | None:
        """The folder of the snapshot being made, from `load` to `publish`."""
        return self._partial

    @property
    def rows_by_group(self) -> dict[str, dict[str, Any]]:
        """The rows that result_groups will have, by group id; none before `assemble`."""
        return {} if self._assembly is None else self._assembly.rows

    def plan(self) -> Plan:
        """List the source and decide what to load. Reads no data file."""
        for name, _ in self.options.select:
            if name not in KEYS:
                raise UsageError(f"--select {name}=… is not one of the keys: {', '.join(KEYS)}")
        previous = self.warehouse.current()
        self.report.previous_source = previous.info.source if previous else None
        if self.source.name == SAMPLE and self.report.previous_source not in (None, SAMPLE):
            raise WarehouseError(
                f"{self.warehouse.root} holds results of {self.report.previous_source}, and the generated sample would "
                "take their place. Name the source (--source or MBW_SOURCE), or another warehouse for the sample."
            )
        if previous is not None and previous.info.format != FORMAT:
            previous = None  # made by another version of this program: nothing of it can be carried over
        rows = assembly.result_group_rows(previous.parquet) if previous else {}
        everything = self.options.full and not self.options.select
        incomplete = incomplete_groups(previous) if previous and not everything else set()
        listing = self.source.list_groups()
        if not listing.groups:
            reasons = "; ".join(finding.message for finding in listing.findings[:3])
            raise SourceError(f"{self.source.name} holds no result group. {reasons}".strip())
        to_load, kept, seen = [], [], set()
        for group in listing.groups:
            group_id = group.key.group_id
            seen.add(group_id)
            if not self._selected(group.key._asdict()):
                if group_id in rows:
                    kept.append(group_id)
            elif group_id in incomplete:
                to_load.append(group)
                self.report.repaired.append(group_id)
            elif not self.options.full and self._is_unchanged(group, rows.get(group_id)):
                kept.append(group_id)
            else:
                to_load.append(group)
        gone = [group_id for group_id in rows if group_id not in seen]
        removed = [group_id for group_id in gone if self._selected(rows[group_id])]
        kept += [group_id for group_id in gone if not self._selected(rows[group_id])]
        if lost := incomplete.intersection(kept):
            raise WarehouseError(
                f"{self.warehouse.root} lacks files of {min(lost)}, which someone has deleted. Build without --select, "
                "so that it is loaded again."
            )
        self._plan = Plan(listing, previous, rows, to_load, kept, removed)
        return self._plan

    def _selected(self, keys: dict[str, Any]) -> bool:
        wanted: dict[str, set[str]] = {}
        for name, value in self.options.select:
            wanted.setdefault(name, set()).add(value)
        return all(keys[name] in values for name, values in wanted.items())

    def _is_unchanged(self, group: ArchiveGroup, row: dict[str, Any] | None) -> bool:
        if row is None or row["status"] not in GOOD:
            return False
        if not assembly.same_place(group, row):
            return False
        return self._signatures.digests(group) == assembly.digests(row)

    def load(self) -> list[LoadedGroup]:
        """Read, normalise and write what the plan says, in parallel.

        Raises:
            UsageError: the selection is of nothing that there is.
        """
        plan = self._require_plan()
        if not plan.removed and not any(self._selected(group.key._asdict()) for group in plan.listing.groups):
            chosen = ", ".join(f"{name}={value}" for name, value in self.options.select)
            raise UsageError(f"--select: no group of {self.source.name} has {chosen}")
        self._partial = self.warehouse.begin()
        self.progress.start("load", len(plan.to_load))
        self.loaded = []
        with closing(self._load_all(plan)) as groups:  # whatever happens here, no worker writes on afterwards
            for loaded in groups:
                self.loaded.append(loaded)
                self.progress.advance(loaded.group.key.group_id, loaded.bytes_read)
        self.progress.end()
        self.loaded.sort(key=lambda loaded: loaded.group.key)
        self.report.bytes_read = sum(loaded.bytes_read for loaded in self.loaded)
        return self.loaded

    def _load_all(self, plan: Plan) -> Generator[LoadedGroup, None, None]:
        tasks = (
            self._task(fetched.group, fetched.paths, plan.previous_rows.get(fetched.group.key.group_id))
            for fetched in self.source.fetch(plan.to_load)
        )
        if self.options.engine == SPARK and plan.to_load:
            yield from self._load_on_spark(tasks)
            return
        n_bytes = sum(file.bytes for group in plan.to_load for file in group.files)
        yield from load_groups(tasks, min(self.options.jobs, len(plan.to_load)), n_bytes)

    def _load_on_spark(self, tasks: Iterator[LoadTask]) -> Iterator[LoadedGroup]:
        from pipelines.spark.engine import load_on_spark, remove_attempts
        from pipelines.spark.session import spark_session

        with spark_session(self.options.master) as spark:
            yield from load_on_spark(spark, tasks)
        remove_attempts(self._require_partial())

    def _task(self, group: ArchiveGroup, paths: dict[str, Path], row: dict[str, Any] | None) -> LoadTask:
        known = None
        again = self.options.full or group.key.group_id in self.report.repaired
        if row is not None and row["status"] in GOOD and not again:
            known = assembly.digests(row) if assembly.same_place(group, row) else None
        return LoadTask(group, paths, self._require_partial() / PARQUET, known)

    def assemble(self) -> bool:
        """Put the new snapshot's Parquet together: what was loaded, links to what stays, and the single-file tables.

        Returns whether anything differs from the published snapshot; if not, there is nothing to publish.
        """
        plan, partial = self._require_plan(), self._require_partial()
        result = assembly.assemble(plan.listing, plan.previous_rows, plan.previous, self.loaded, plan.kept)
        self._assembly = result
        self.report.revision = result.revision
        self.report.groups_by_status = result.groups_by_status
        self.report.findings = result.findings
        self._signatures.update(self.loaded)
        info = plan.previous.info if plan.previous else None
        same_form = info is not None and (info.source, info.embed_prompts) == (
            self.source.name,
            self.options.embed_prompts,
        )
        self._signatures.check(result.revision, self.started)
        if same_form and not result.differs and not self.options.full and not self.report.repaired:
            self._signatures.save()
            # What stays published stays as good or as bad as it was found to be.
            assert plan.previous is not None
            self.report.findings = [*result.findings, *assembly.read_findings(plan.previous, "quality")]
            return False
        self.report.added, self.report.changed = result.added, result.changed
        self.report.removed = plan.removed
        assembly.write(result, plan.previous, partial / PARQUET)
        return True

    def build_database(self) -> list[str]:
        """Make the snapshot's DuckDB file, compute its statistics and go on with the history; returns the names of its
        views."""
        from pipelines.load.database import build_database
        from pipelines.load.history import HistoryUpdate

        plan, partial = self._require_plan(), self._require_partial()
        # What checks and tests takes seconds to import. The database is mostly made by one thread that needs no Python,
        # so that another processor is idle; while groups load, none is.
        threading.Thread(target=_preload, daemon=True).start()
        previous = plan.previous.parquet if plan.previous and not self.options.full else None
        last = self.warehouse.current()  # which another version of this program may have made
        revision = self._require_assembly().revision
        history = HistoryUpdate(last.parquet if last else None, _refresh_id(partial), revision)
        return build_database(
            partial / DATABASE,
            partial / PARQUET,
            embed_prompts=self.options.embed_prompts,
            previous=previous,
            history=history,
        )

    def validate(self) -> list[Finding]:
        """Check the loaded tables; the findings are added to the snapshot.

        Raises:
            PublicationBlocked: a check on a whole table failed.
        """
        from pipelines.quality.validation import validate_snapshot

        found = validate_snapshot(self._require_partial())
        self.report.findings = [*self.report.findings, *found]
        return found

    def publish(self) -> Snapshot:
        """Record the refresh and swap the link: from here on readers see the new snapshot."""
        partial, assembled = self._require_partial(), self._require_assembly()
        number = _refresh_id(partial)
        assembly.record_refresh(
            partial / PARQUET,
            partial / DATABASE,
            self.warehouse.current(),
            {
                "refresh_id": number,
                "started": self.started,
                "ended": datetime.now(UTC),
                "source": self.source.name,
                "revision": assembled.revision,
                "groups_added": len(self.report.added),
                "groups_changed": len(self.report.changed),
                "groups_removed": len(self.report.removed),
                "groups_quarantined": self.report.n_bad_groups,
            },
        )
        info = SnapshotInfo(FORMAT, number, self.source.name, assembled.revision, self.options.embed_prompts)
        self._signatures.save()  # first: what fails after the publication could not be said to have stopped it
        snapshot = self.warehouse.publish(partial, info)
        self._partial = None
        self.report.published = snapshot
        try:
            self.warehouse.prune()
        except OSError as error:
            reason = f"{error.filename or self.warehouse.root}: {error.strerror or error}"
            self.report.warnings.append(f"An old snapshot could not be deleted ({reason}). The next build tries again.")
        return snapshot

    def _require_plan(self) -> Plan:
        if self._plan is None:
            raise RuntimeError("call plan() first")
        return self._plan

    def _require_partial(self) -> Path:
        if self._partial is None:
            raise RuntimeError("call load() first")
        return self._partial

    def _require_assembly(self) -> assembly.Assembly:
        if self._assembly is None:
            raise RuntimeError("call assemble() first")
        return self._assembly


def _preload() -> None:
    """Import what checks and tests need, beside the other thread, whose system calls must not wait for this one: each
    waits for up to a switch interval until it goes on, which made thousands of links take seconds."""
    from pipelines.load import statistics
    from pipelines.quality import gx_import

    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        statistics.preload()
        gx_import.preload()
    finally:
        sys.setswitchinterval(before)


def _refresh_id(partial: Path) -> int:
    """The running number that the snapshot being made will have."""
    return int(partial.name.split(".")[0])


def _storage_error(warehouse: Warehouse, error: OSError, published: bool) -> WarehouseError:
    place = error.filename or warehouse.root
    reason = error.strerror or str(error)
    if published:
        return WarehouseError(f"{place}: {reason}. The new warehouse was published before that, and is whole.")
    advice = "Run the build again once that is mended."
    if error.errno == errno.ENOSPC or "No space left" in reason:
        reason, advice = "the disk is full", "Free some space and run the build again."
    return WarehouseError(f"{place}: {reason}. Nothing was published; the old warehouse is as it was. {advice}")
