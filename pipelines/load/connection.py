"""Connections to a snapshot's database: how it is attached, and what DuckDB may take and do meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, TypeVar

from pipelines.errors import WarehouseError
from pipelines.load.views import literal

if TYPE_CHECKING:
    import duckdb

_Result = TypeVar("_Result")

#: The name of the attached database.
CATALOG = "memorybench"
#: MB that DuckDB may take; the larger ones are tried where the smaller did not do. One text is held in one piece, so
#: that prompts or responses of megabytes need more than any that were published. What DuckDB may take it takes, so that
#: with more, memory grows with the archive; with 160 MB the database takes a tenth longer.
MEMORY_LIMITS = (256, 1600, 6400)
THREADS = 2


def spill_folder() -> Path:
    """Where this process's connections put what does not fit into memory; DuckDB makes it when it is needed."""
    return Path(gettempdir()) / f"memorybench-warehouse-{os.getpid()}"


def connect(spill: Path | None = None, memory_limit: int = MEMORY_LIMITS[0]) -> duckdb.DuckDBPyConnection:
    """A connection to an empty in-memory database that never reaches for the network. What does not fit into memory
    goes to `spill` (None: `spill_folder`). `memory_limit` is in MB."""
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{memory_limit}MB",
        "temp_directory": str(spill or spill_folder()),
        "threads": THREADS,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "preserve_insertion_order": True,
    }
    return duckdb.connect(config=config)


@contextmanager
def opened_database(path: Path, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection whose default database is the file; what is made in passing stays in memory."""
    mode = " (READ_ONLY)" if read_only else ""
    with connect(None if read_only else path.with_suffix(".tmp")) as connection:
        connection.execute(f"ATTACH {literal(str(path))} AS {CATALOG}{mode}")
        connection.execute(f"USE {CATALOG}")
        yield connection
        connection.execute("USE memory")
        connection.execute(f"DETACH {CATALOG}")


def with_enough_memory(work: Callable[[int], _Result]) -> _Result:
    """What `work` returns with the first of the MEMORY_LIMITS that is enough for it; it may be called several times.

    Raises:
        WarehouseError: none is enough.
    """
    import duckdb

    for limit in MEMORY_LIMITS:
        try:
            return work(limit)
        except duckdb.Error as error:
            # What a commit lacks memory for is an error of the transaction.
            if not isinstance(error, duckdb.OutOfMemoryException) and "failed to pin block" not in str(error):
                raise
            reason = str(error).partition("\n")[0]
    raise WarehouseError(
        f"DuckDB needs more than {MEMORY_LIMITS[-1]} MB of memory, which a text of huge size may be the cause of: "
        f"{reason}. Nothing was published."
    )
