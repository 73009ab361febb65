"""`mbw status`: what the warehouse holds, from where, and how old it is."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pipelines.commands.arguments import DONE, add_json, add_warehouse, warehouse_of
from pipelines.config import SAMPLE

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pipelines.client.reader import SnapshotReader

HELP = "show revision, groups by status, age and sizes of the warehouse"
DESCRIPTION = "Shows what the warehouse holds, which revision of which source it comes from, and when it was refreshed."


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("status", help=HELP, description=DESCRIPTION)
    add_json(parser)
    add_warehouse(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from pipelines.archive.json_reader import dumps
    from pipelines.client.reader import SnapshotReader

    with SnapshotReader(warehouse_of(args)) as reader:
        status = warehouse_status(reader, datetime.now(UTC))
    if args.json:
        print(dumps(status, indent=4))
    else:
        print_status(status)
    return DONE


def warehouse_status(reader: SnapshotReader, now: datetime) -> dict[str, Any]:
    """Everything that `mbw status` says, as JSON has it."""
    from pipelines.load.signatures import SignatureCache

    columns = (
        "refresh_id, strftime(started AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS started, "
        "strftime(ended AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS ended, epoch(ended) - epoch(started) AS seconds, "
        "groups_added, groups_changed, groups_removed, groups_quarantined, versions"
    )
    cursor = reader.execute(f"SELECT {columns} FROM refreshes ORDER BY refresh_id DESC LIMIT 1")
    names = [column[0] for column in cursor.description or []]
    refresh = dict(zip(names, cursor.fetchone() or (), strict=False))
    info = reader.snapshot.info
    checked = SignatureCache(reader.warehouse.root).checked
    return {
        "warehouse": str(reader.warehouse.root),
        "snapshot": reader.snapshot.path.name,
        "source": info.source,
        "revision": info.revision,
        "checked": None if checked is None else {"revision": checked.revision, "at": checked.at},
        "checked_seconds_ago": _age(checked.at if checked else None, now),
        "age_seconds": _age(refresh.get("ended"), now),
        "groups": counted(reader, "result_groups", "status"),
        "validity": counted(reader, "result_groups", "validity"),
        "findings": counted(reader, "findings", "severity"),
        "bytes": _size(reader),
        "last_refresh": _with_versions(refresh),
    }


def _size(reader: SnapshotReader) -> dict[str, Any]:
    from pipelines.errors import WarehouseError
    from pipelines.load.snapshots import snapshot_size

    try:
        return snapshot_size(reader.snapshot.path)
    except FileNotFoundError as error:
        reader.require_snapshot()  # when it is gone, that is what went wrong
        root = reader.warehouse.root
        raise WarehouseError(f"{error.filename} is missing from {root}. Delete {root} and build again.") from error


def counted(reader: SnapshotReader, table: str, column: str) -> dict[str, int]:
    """How many rows of a table have each value of a column."""
    rows = reader.rows(f"SELECT coalesce({column}, 'unknown'), count(*) FROM {table} GROUP BY ALL ORDER BY ALL")
    return dict(rows)


def _age(ended: str | None, now: datetime) -> int | None:
    return None if ended is None else max(0, round((now - datetime.fromisoformat(ended)).total_seconds()))


def _with_versions(refresh: dict[str, Any]) -> dict[str, Any]:
    from pipelines.archive.json_reader import loads

    return {**refresh, "versions": loads(refresh["versions"].encode())} if refresh else {}


def print_status(status: dict[str, Any]) -> None:
    """The same for people."""
    refresh = status["last_refresh"]
    size = status["bytes"]
    parquet = sum(size["parquet"].values())
    prompts = size["parquet"].get("prompts", 0)
    lines = {
        "warehouse": status["warehouse"],
        "source": source_text(status["source"]),
        "revision": status["revision"],
        "snapshot": status["snapshot"],
    }
    if status["checked"]:
        seen = status["checked"]["revision"]
        newer = "" if seen == status["revision"] else f": the source is at {seen}, which has the same results"
        lines["checked"] = f"{ago(status['checked_seconds_ago'])} ago{newer}"
    if refresh:
        lines["refreshed"] = (
            f"{ago(status['age_seconds'])} ago ({refresh['ended']}), in {refresh['seconds']:.1f} s: "
            f"{refresh['groups_added']} groups added, {refresh['groups_changed']} changed, "
            f"{refresh['groups_removed']} removed"
        )
    lines |= {
        "groups": listed(status["groups"]),
        "validity": listed(status["validity"]),
        "findings": listed(status["findings"]) or "none",
        "size": f"database {size_text(size['database'])}, Parquet {size_text(parquet)} (prompts {size_text(prompts)})",
    }
    for name, text in lines.items():
        sys.stdout.write(f"{name:<11}{text}\n")


def source_text(source: str) -> str:
    """The source, and for the sample that it is one."""
    return f"{source} (generated: its numbers mean nothing)" if source == SAMPLE else source


def listed(counts: dict[str, int]) -> str:
    """Counts as "244 complete, 1 stale"."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def ago(seconds: int) -> str:
    """A duration in its largest unit."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}" + ("s" if count > 1 else "")
    return f"{seconds} seconds"


def size_text(n_bytes: float) -> str:
    """Bytes as people read them, in powers of 1000."""
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.2f} GB"
