"""One published snapshot, opened for reading: its database, and the Parquet rows of single groups.

The link `current` is followed once, when a snapshot is opened, so that everything read comes from one version however
often the warehouse is refreshed meanwhile. How rows become the publisher's objects belongs elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from pipelines.errors import WarehouseError
from pipelines.load.connection import CATALOG, spill_folder
from pipelines.load.snapshots import FORMAT, KEPT_SNAPSHOTS, PARQUET, Warehouse
from pipelines.load.views import literal
from schemas import TABLES
from schemas.model import KEYS

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

#: What a query takes for its `?`, or its `$name`.
Parameters = Sequence[Any] | Mapping[str, Any]

_PROMPTS = "prompts"
_MENTIONS_PROMPTS = re.compile(rf"\b{_PROMPTS}\b", re.IGNORECASE)
#: Sessions that somebody may still wait for.
_SESSIONS: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()


def interrupt_queries() -> None:
    """Have all queries of this process end with an error, soon. May be called by a signal handler.

    DuckDB looks for signals itself, but then waits for other threads to finish what they are at, which may take hours.
    """
    import duckdb

    for session in tuple(_SESSIONS):
        with suppress(duckdb.Error):  # it is closed
            session.interrupt()


class SnapshotReader:
    """Reads the snapshot that is current when this is made. A context manager; `close` lets go of the files.

    Raises:
        WarehouseError: there is no warehouse at `root`, or none that this version reads.
    """

    def __init__(self, root: Path | str) -> None:
        import duckdb

        self.warehouse = Warehouse(root)
        self.snapshot = self.warehouse.require_current()
        if self.snapshot.info.format != FORMAT:
            raise WarehouseError(
                f"{self.warehouse.root} was built by another version of this program. Build it again with: mbw build "
                f"--source {self.snapshot.info.source} --warehouse {self.warehouse.root}"
            )
        # The file is attached to a database in memory, so that nothing about it depends on who else in this process
        # has it open, and so that views of a session have a place to live.
        config: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "temp_directory": str(spill_folder()),
        }
        self._connection = duckdb.connect(config=config)
        try:
            self._identity = _identity(self.snapshot.path)
            self._connection.execute(f"ATTACH {literal(str(self.snapshot.database))} AS {CATALOG} (READ_ONLY)")
        except (OSError, duckdb.Error) as error:
            self._connection.close()
            raise WarehouseError(
                f"{self.snapshot.database} cannot be opened: {error}. Build it again with --full."
            ) from error
        self._locked = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def lock(self) -> None:
        """From here on no statement can open a file, load an extension or change a setting.

        `prompts` stays readable, because Arrow reads it and not the database.
        """
        if self._locked:
            return
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self._locked = True

    def execute(self, query: str, parameters: Parameters = ()) -> duckdb.DuckDBPyConnection:
        """Run a query in a session of its own, which holds the result; safe to call from any thread."""
        with self._session(query) as session:
            return session.execute(query, parameters) if parameters else session.execute(query)

    def arrow(self, query: str, parameters: Parameters = ()) -> pa.Table:
        """The result of a query as Arrow."""
        with self._session(query) as session:
            relation = session.sql(query, params=parameters or None)
            return relation.to_arrow_table()

    @contextmanager
    def _session(self, query: str) -> Iterator[duckdb.DuckDBPyConnection]:
        import duckdb

        session = self._connection.cursor()
        _SESSIONS.add(session)
        try:
            session.execute(f"USE {CATALOG}")
            if _MENTIONS_PROMPTS.search(query) and not self.snapshot.info.embed_prompts:
                self._offer_prompts(session)
            yield session
        except (duckdb.Error, OSError):
            self.require_snapshot()  # when it is gone, that is what went wrong
            raise

    def rows(self, query: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.execute(query, parameters).fetchall()

    def _offer_prompts(self, session: duckdb.DuckDBPyConnection) -> None:
        """Make `FROM prompts`, and `FROM prompts(root)` with a root of this warehouse, read this snapshot's Parquet."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        keys = pa.schema([(key, pa.string()) for key in KEYS])
        schema = pa.schema([*keys, *TABLES[_PROMPTS].arrow_schema()])
        folder = self.snapshot.parquet / _PROMPTS
        if folder.is_dir():
            partitioning = ds.partitioning(keys, flavor="hive")
            dataset = ds.dataset(folder, schema=schema, format="parquet", partitioning=partitioning)
        else:
            dataset = schema.empty_table()
        self.require_files([_PROMPTS])
        session.register(_PROMPTS, dataset)
        if not self._locked:
            return
        # The macro of the database opens files by their path, which is locked: one that needs no path stands in.
        accepted = ", ".join(literal(f"{root}/{PARQUET}") for root in sorted(self._spellings()))
        session.execute(
            f"CREATE TEMP MACRO {_PROMPTS}(root) AS TABLE SELECT * FROM {_PROMPTS} WHERE CASE WHEN "
            f"rtrim(root, '/') IN ({accepted}) THEN true "
            f"ELSE error('this command reads its own warehouse only; write: FROM {_PROMPTS}') END"
        )

    def _spellings(self) -> set[str]:
        """How people may write the warehouse's folder."""
        root = self.warehouse.root
        return {str(root), str(root.resolve()), os.path.relpath(root), f"./{os.path.relpath(root)}"}

    def group_table(self, table: str, partition_path: str) -> pa.Table:
        """The rows of one group in a table's Parquet file; none where the group has no file there.

        Raises:
            WarehouseError: the file was deleted, or the snapshot is gone.
        """
        from pipelines.load.partitions import read_partition

        rows = read_partition(self.snapshot.parquet, TABLES[table], partition_path)
        if rows.num_rows:
            self.require_snapshot()
        else:
            self.require_files([table], partition_path)
        return rows

    def require_files(self, tables: Iterable[str], partition_path: str | None = None) -> None:
        """Check that the Parquet files of grouped tables are there, those of all groups or of one.

        Raises:
            WarehouseError: one is missing, or the snapshot is gone.
        """
        from pipelines.load.presence import missing_files

        self.require_snapshot()  # files that are missing because the snapshot is gone are another matter
        session = self._connection.cursor()
        session.execute(f"USE {CATALOG}")
        for _, path in missing_files(session, self.snapshot.parquet, tables, partition_path):
            raise WarehouseError(
                f"{path} is missing: someone has deleted it. The next build from {self.snapshot.info.source} loads its "
                "group again."
            )

    def require_snapshot(self) -> None:
        """Check that the snapshot is still there.

        Raises:
            WarehouseError: refreshes since have deleted it.
        """
        current = self.warehouse.current()
        path = self.snapshot.path
        kept = current is not None and int(current.path.name) - int(path.name) < KEPT_SNAPSHOTS
        if not kept or _identity(path) != self._identity:
            raise WarehouseError(
                f"{self.warehouse.root} has been refreshed and the version that was opened is deleted. Open it again."
            )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except FileNotFoundError:
        return None
    return stat.st_dev, stat.st_ino
