"""`mbw diff`: which published numbers moved between two revisions, or between two warehouses."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from pipelines.commands.arguments import DONE, add_warehouse, again, warehouse_of
from pipelines.commands.output import Result, add_output, check_output, fitted, for_people, write_result
from pipelines.config import GENERATED, HUB_PREFIX, SAMPLE
from pipelines.errors import UsageError
from schemas.model import KEYS

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    import pyarrow as pa

    from pipelines.client.reader import SnapshotReader

HELP = "show which published numbers moved between two revisions or warehouses"
DESCRIPTION = (
    "Compares every published number of two revisions that the warehouse has read, or of two warehouses: what changed "
    "with both values, what was added, what was removed. The table refreshes has the revisions. People are first told "
    "how many numbers of each metric moved and by how much at most, and are shown 6 significant digits; a terminal is "
    "shown the largest differences of each metric. csv, json and parquet are exact and complete."
)
DIGITS = 6
#: How many rows of each metric a terminal is shown where nobody says.
_LIMIT = 5
COLUMNS = ("change", *KEYS, "protocol", "dataset_group", "metric", "old", "new", "difference")
#: Columns that people are spared where all rows say the same in them.
_OFTEN_THE_SAME = ("experiment", "protocol")
CHANGES = ("changed", "added", "removed")
_SUMMARY = ("metric", "of", "protocol", *CHANGES, "largest difference", "there")
#: What tells numbers apart where a table is too wide for a terminal.
_LEADING = ("collection", "baseline", "dataset_group", "metric")
#: How many revisions a message names.
_NAMED = 5


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("diff", help=HELP, description=DESCRIPTION)
    parser.add_argument(
        "old", metavar="OLD", help="a revision, or as much of its beginning as is unique; or a warehouse"
    )
    parser.add_argument("new", metavar="NEW", help="the same; a folder that is a warehouse is taken for one")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--limit",
        metavar="N",
        type=_count,
        help="show people of each metric the N numbers with the largest differences, then what was added or removed, "
        f"metrics of groups first; 0 is all (default: {_LIMIT} on a terminal, else all)",
    )
    shown.add_argument("--all", dest="limit", action="store_const", const=0, help="show all, as --limit 0")
    add_output(parser)
    add_warehouse(parser)
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def run(args: argparse.Namespace) -> int:
    chosen = check_output(args)
    if args.limit and not for_people(chosen):
        raise UsageError(f"{chosen} is complete: --limit goes with table, markdown and latex.")
    with ExitStack() as stack:
        readers: dict[Path, SnapshotReader] = {}
        old, new = (_side(text, warehouse_of(args), readers, stack) for text in (args.old, args.new))
        rows = compare(old, new)
    _tell(old, new, rows, for_people(chosen))
    if not for_people(chosen):
        write_result(args, Result(COLUMNS, rows))
        return DONE
    shown = _largest(rows, _limit(args, chosen))
    write_result(args, fitted(args, _for_people(shown, old, new)))
    if len(shown) < len(rows):
        sys.stdout.flush()
        print(
            f"{len(shown):,} of {len(rows):,} are shown, the largest differences of each metric; all: --all",
            file=sys.stderr,
        )
    return DONE


def _limit(args: argparse.Namespace, chosen: str) -> int:
    if args.limit is not None:
        return int(args.limit)
    return _LIMIT if chosen == "table" and args.output is None and sys.stdout.isatty() else 0


def _largest(rows: list[tuple[Any, ...]], limit: int) -> list[tuple[Any, ...]]:
    """Of each metric the rows with the largest differences, then those that have none, as added ones; all in their
    order for 0. Metrics have units of their own, so that across them no difference is the larger one."""
    if not limit:
        return rows
    metrics = _by_metric(rows).values()
    return [row for of_metric in metrics for row in sorted(of_metric, key=_size, reverse=True)[:limit]]


def _size(row: tuple[Any, ...]) -> float:
    """How far the number moved; -1 where that is not a number."""
    difference = row[-1]
    return -1.0 if difference is None or difference != difference else abs(difference)


def _tell(old: Side, new: Side, rows: list[tuple[Any, ...]], people: bool) -> None:
    """Say what moved as a whole, before the numbers themselves, and warn where that may mean something else."""
    from pipelines.render import Style, write_text

    if people:
        counts = Counter(row[0] for row in rows)
        moved = ", ".join(f"{counts[change]:,} {change}" for change in CHANGES if counts[change])
        print(f"{moved or 'no published number moved'}, from {old} to {new}", file=sys.stderr)
    if old.archive != new.archive:
        print(
            f"warning: these are of two sources, {old.source} and {new.source}: what differs may be the archives, and "
            "nothing that moved",
            file=sys.stderr,
        )
    if people and len(rows) > 1:
        print(file=sys.stderr)
        width = get_terminal_size().columns if sys.stderr.isatty() else None
        style = Style(digits=DIGITS, whole=True, width=width, leading=("metric", "of"))
        write_text(sys.stderr, *_spared(_SUMMARY, _summary(rows)), style)
        print(file=sys.stderr)


def _summary(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """A row of _SUMMARY for each metric."""
    found = []
    for (protocol, of, metric), of_metric in _by_metric(rows).items():
        counts = Counter(row[0] for row in of_metric)
        largest = max(of_metric, key=_size)
        place = "/".join(str(part) for part in (*largest[1:6], largest[7]) if part is not None)
        numbers = (largest[-1], place) if _size(largest) >= 0 else (None, None)
        found.append((metric, of, protocol, *(counts[change] for change in CHANGES), *numbers))
    return found


def _by_metric(rows: list[tuple[Any, ...]]) -> dict[tuple[str, str, str], list[tuple[Any, ...]]]:
    """The rows of each protocol, level (group or dataset) and metric, those of groups before those of datasets."""
    metrics: dict[tuple[str, str, str], list[tuple[Any, ...]]] = {}
    for row in rows:
        moved = dict(zip(COLUMNS, row, strict=True))
        of = "group" if moved["dataset_group"] is None else "dataset"
        metrics.setdefault((moved["protocol"], of, moved["metric"]), []).append(row)
    return dict(sorted(metrics.items(), key=lambda item: (item[0][1] != "group", item[0])))


@dataclass(frozen=True)
class Side:
    """What is compared: what a warehouse said after one of its refreshes."""

    reader: SnapshotReader
    refresh_id: int
    revision: str
    source: str

    @property
    def archive(self) -> str:
        """The source, whatever revision of it was asked for."""
        return self.source.partition("@")[0] if self.source.startswith(HUB_PREFIX) else self.source

    @property
    def provenance(self) -> str:
        """Where its numbers are from, as tables say it."""
        return f"source: {self.source}, revision {self.revision}"

    def __str__(self) -> str:
        return f"{self.revision} (refresh {self.refresh_id} of {self.reader.warehouse.root})"

    def numbers(self) -> pa.Table:
        """Every published number of that time."""
        return self.reader.arrow(
            f"SELECT {', '.join(KEYS)}, group_id, protocol, dataset_group, metric, value, value_text "
            "FROM published_history WHERE valid_from <= $id AND (valid_to IS NULL OR valid_to > $id)",
            {"id": self.refresh_id},
        )


def _side(text: str, default: Path, readers: dict[Path, SnapshotReader], stack: ExitStack) -> Side:
    """The warehouse or the revision that an argument means.

    Raises:
        UsageError: it is neither.
        WarehouseError: it is a revision, and there is no warehouse to know it; or a folder without a warehouse.
    """
    folder = Path(text).expanduser()
    if (folder / "current").is_symlink() or os.sep in text:
        info = _reader(folder, readers, stack).snapshot.info
        return Side(_reader(folder, readers, stack), info.refresh_id, info.revision, info.source)
    reader = _reader(default, readers, stack)
    known = _revisions(reader)
    found = [revision for revision in known if text and revision.startswith(text)]
    if len(found) != 1:
        raise UsageError(_not_found(text, found, list(known), reader.warehouse.root))
    refresh_id = known[found[0]]
    ((source,),) = reader.rows("SELECT source FROM refreshes WHERE refresh_id = $id", {"id": refresh_id})
    return Side(reader, refresh_id, found[0], source)


def _reader(root: Path, readers: dict[Path, SnapshotReader], stack: ExitStack) -> SnapshotReader:
    from pipelines.client.reader import SnapshotReader

    path = root.absolute()
    if path not in readers:
        readers[path] = stack.enter_context(SnapshotReader(path))
    return readers[path]


def _revisions(reader: SnapshotReader) -> dict[str, int]:
    """Every revision that was read, oldest first, with the last refresh that read it. The newest may have changed
    nothing, and then is what the refresh before it was."""
    from pipelines.load.signatures import SignatureCache

    known = dict(reader.rows("SELECT revision, refresh_id FROM refreshes ORDER BY refresh_id"))
    checked = SignatureCache(reader.warehouse.root).checked
    if checked is not None and checked.revision not in known:
        known[checked.revision] = reader.snapshot.info.refresh_id
    return known


def _not_found(text: str, found: Sequence[str], known: Sequence[str], root: Path) -> str:
    if found:
        return f"Several revisions begin with {text!r}: {', '.join(found[:_NAMED])}. Write more of it."
    last = ", ".join(known[-_NAMED:])
    look = again("mbw table refreshes", root)
    return f"{text!r} is no revision that {root} has read, and no warehouse. It has read {last}; all: {look}"


def compare(old: Side, new: Side) -> list[tuple[Any, ...]]:
    """A row of COLUMNS for each number that moved: by kind of change, then by group."""
    from pipelines.load.connection import connect

    shown = ", ".join(f"coalesce(new.{name}, old.{name}) AS {name}" for name in (*KEYS, "protocol", "dataset_group"))
    with connect() as connection:
        connection.register("old", old.numbers())
        connection.register("new", new.numbers())
        rows = connection.execute(
            f"""
            SELECT
                CASE WHEN old.group_id IS NULL THEN 'added' WHEN new.group_id IS NULL THEN 'removed' ELSE 'changed' END
                    AS change,
                {shown}, coalesce(new.metric, old.metric) AS metric,
                old.value, old.value_text, new.value, new.value_text, new.value - old.value
            FROM old FULL JOIN new
                ON old.group_id = new.group_id AND old.protocol = new.protocol AND old.metric = new.metric
                AND old.dataset_group IS NOT DISTINCT FROM new.dataset_group
            WHERE old.group_id IS NULL OR new.group_id IS NULL OR old.value IS DISTINCT FROM new.value
                OR old.value_text IS DISTINCT FROM new.value_text
            ORDER BY list_position({list(CHANGES)}, change), {", ".join(KEYS)}, protocol, dataset_group NULLS FIRST,
                metric
            """
        ).fetchall()
    return list(_as_published(rows))


def _as_published(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        old, old_text, new, new_text, difference = row[-5:]
        yield (*row[:-5], old if old_text is None else old_text, new if new_text is None else new_text, difference)


def _for_people(rows: list[tuple[Any, ...]], old: Side, new: Side) -> Result:
    from pipelines.render import Style

    style = Style(
        digits=DIGITS,
        narrow=True,
        leading=_LEADING,
        caption="Published numbers that moved.",
        provenance=f"old: {old.provenance}; new: {new.provenance}",
        warning=GENERATED if SAMPLE in (old.source, new.source) else "",
    )
    return Result(*_spared(COLUMNS, rows), style)


def _spared(columns: Sequence[str], rows: list[tuple[Any, ...]]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Without the columns of _OFTEN_THE_SAME in which all rows say the same."""
    kept = [i for i, name in enumerate(columns) if name not in _OFTEN_THE_SAME or len({row[i] for row in rows}) > 1]
    return [columns[i] for i in kept], [tuple(row[i] for i in kept) for row in rows]
