"""What the fault tests share: one archive in two versions, the warehouses of both, and what must hold after a fault."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from schemas import TABLES
from schemas.model import KEYS
from tests.handmade import A_MEM, MEM0, WO_MEMORY, HandmadeArchive, build, folder, group_files

ROOT = Path(__file__).resolve().parent.parent.parent
LEGAL = ("off-policy", "Qwen3-8B", "domain", "Legal", "bm25_message")
#: Two groups with this much text in their prompts are loaded by worker processes.
LARGE_CHARS = 2 << 20
#: When a refresh ran is all that differs between two refreshes of one content.
_TIMES = {"refreshes": ("started", "ended")}
#: What stands in a warehouse and in a snapshot, and nothing else.
ROOT_ENTRIES = {".signatures.json", "current", "memorybench.duckdb", "parquet", "quality", "snapshots"}
SNAPSHOT_ENTRIES = {"memorybench.duckdb", "parquet", "quality", "snapshot.json"}


@dataclass(frozen=True)
class State:
    """Checksums of every table, as the database has it and as the Parquet files have it."""

    database: Mapping[str, str]
    parquet: Mapping[str, str]


def state(warehouse: Path) -> State:
    """The published content of a warehouse, provenance and history included."""
    snapshot = (warehouse / "current").resolve()
    database, parquet = {}, {}
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{snapshot / 'memorybench.duckdb'}' AS made (READ_ONLY)")
        for table in TABLES.values():
            columns = [c.name for c in table.database_columns if c.name not in _TIMES.get(table.name, ())]
            shown = ", ".join(f'"{name}"' for name in columns)
            if table.in_database:
                database[table.name] = _checksum(connection, f'SELECT {shown} FROM made."{table.name}"')
            pattern = "/".join([table.name, *("*" for _ in KEYS if table.grouped), "*.parquet"])
            if not any((snapshot / "parquet").glob(pattern)):
                continue
            hive = "hive_partitioning = true, hive_types_autocast = false" if table.grouped else ""
            source = f"read_parquet('{snapshot / 'parquet' / pattern}', {hive or 'hive_partitioning = false'})"
            parquet[table.name] = _checksum(connection, f"SELECT {shown} FROM {source}")
        for view in connection.execute("SELECT view_name FROM duckdb_views() WHERE database_name = 'made'").fetchall():
            connection.execute(f'SELECT count(*) FROM made."{view[0]}"')
    for name in database.keys() & parquet.keys():
        assert database[name] == parquet[name], f"{name} differs between the database and Parquet"
    return State(database, parquet)


def _checksum(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    digest = hashlib.sha256()
    for row in connection.execute(f"{query} ORDER BY ALL").fetchall():
        digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def leftovers(warehouse: Path) -> list[str]:
    """Whatever stands in a warehouse beside what was published."""
    found = {path.name for path in warehouse.iterdir()} - ROOT_ENTRIES
    current = os.path.basename(os.readlink(warehouse / "current")) if (warehouse / "current").is_symlink() else ""
    for path in (warehouse / "snapshots").iterdir():
        if not path.name.isdigit() or path.name > current:
            found.add(f"snapshots/{path.name}")
        else:
            found |= {f"snapshots/{path.name}/{p.name}" for p in path.iterdir() if p.name not in SNAPSHOT_ENTRIES}
    return sorted(found)


@dataclass(frozen=True)
class Scene:
    """An archive, the warehouse of its version before, and the content that refreshing it must end in.

    `old` is None where nothing was published before. `archive` is not to be changed; the warehouse is a copy.
    """

    archive: Path
    warehouse: Path
    old: State | None
    new: State

    def check_untouched_or_done(self) -> bool:
        """The warehouse answers and holds the old content or the new, exactly; returns whether it is the new."""
        if not (self.warehouse / "current").exists():
            assert self.old is None, "the old warehouse is gone"
            return False
        found = state(self.warehouse)
        assert found in (self.old, self.new), "neither the old content nor the new"
        return found == self.new

    def check_repair(self) -> None:
        """The next build ends in the new content and leaves nothing else."""
        build(self.archive, self.warehouse)
        assert state(self.warehouse) == self.new
        assert leftovers(self.warehouse) == []


class Scenes:
    """Makes scenes. The expensive parts are built once in a test process and copied."""

    def __init__(self, root: Path, large: bool) -> None:
        self.root = root
        self.archive = HandmadeArchive(root / "archive")
        contents = group_files()
        if large:
            contents["predict.json"] = [
                {**row, "messages": [{"role": "user", "content": f"{row['dataset']} " * (LARGE_CHARS // 8)}]}
                for row in contents["predict.json"]
            ]
        for keys in (A_MEM, WO_MEMORY):
            self.archive.add(keys, contents)
        self.archive.add(MEM0)
        build(self.archive.root, root / "old")
        self.old = state(root / "old")
        # Two groups change (both large ones, where there are any), one is added, one goes.
        for keys in (A_MEM, WO_MEMORY):
            changed = [{**contents["predict.json"][0], "response": "Another answer."}, *contents["predict.json"][1:]]
            self.archive.write(self.archive.root / folder(keys) / "predict.json", changed)
        self.archive.lines = [line for line in self.archive.lines if line["baseline"] != "mem0"]
        self.archive.add(LEGAL)
        shutil.copytree(root / "old", root / "new", symlinks=True)
        build(self.archive.root, root / "new")
        self.new = state(root / "new")
        build(self.archive.root, root / "first")
        self.first = state(root / "first")
        assert len({str(s) for s in (self.old, self.new, self.first)}) == 3

    def refresh(self, folder: Path) -> Scene:
        """A warehouse of the old version, below `folder`."""
        shutil.copytree(self.root / "old", folder / "warehouse", symlinks=True)
        return Scene(self.archive.root, folder / "warehouse", self.old, self.new)

    def first_build(self, folder: Path) -> Scene:
        """No warehouse yet."""
        (folder / "warehouse" / "snapshots").mkdir(parents=True)
        return Scene(self.archive.root, folder / "warehouse", None, self.first)


_kept: list[TemporaryDirectory[str]] = []


@cache
def scenes(large: bool = False) -> Scenes:
    """The scenes of this test process. `large` archives are loaded by worker processes."""
    _kept.append(TemporaryDirectory(prefix="faults-"))
    return Scenes(Path(_kept[-1].name), large)


def mbw_build(scene: Scene, *options: str) -> list[str]:
    """The arguments of `mbw` that bring the scene's warehouse up to date."""
    return ["build", "--source", str(scene.archive), "--warehouse", str(scene.warehouse), "--json", *options]


def injected(fault: Sequence[str], mbw: Sequence[str]) -> list[str]:
    """A command that runs `mbw` and has a fault happen in it; see tests/faults/inject.py."""
    return [sys.executable, "-m", "tests.faults.inject", *fault, "--", *mbw]


def run(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a session of its own, as a terminal's foreground job."""
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, start_new_session=True, timeout=300, **options
    )


def assert_told(ended: subprocess.CompletedProcess[str], message: str, status: int = 1) -> None:
    """It ended with the status and one message that matches the pattern, and no traceback."""
    assert "Traceback" not in ended.stderr, ended.stderr
    assert ended.returncode == status, ended.stderr
    assert re.search(message, ended.stderr, re.MULTILINE), ended.stderr


def processes_of(warehouse: Path) -> list[int]:
    """Living processes that hold a file below the warehouse open, this one apart."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            targets = [os.readlink(link) for link in (process / "fd").iterdir()]
        except OSError:
            continue  # it ended while it was looked at, or is not ours
        if any(target.startswith(str(warehouse)) for target in targets):
            found.append(int(process.name))
    return found
