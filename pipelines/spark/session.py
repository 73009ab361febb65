"""Starting Spark, and saying what is missing where it cannot be."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pipelines.errors import MemoryBenchWarehouseError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"
_APPLICATION = "memorybench-warehouse"
#: Seconds to wait for a master to take a connection. Spark itself would try for minutes.
_CONNECT_SECONDS = 5.0


def require_pyspark() -> None:
    """Check that Spark can be started here.

    Raises:
        UsageError: pyspark or Java is not installed.
    """
    if find_spec("pyspark") is None:
        raise UsageError("Spark needs pyspark, which is not installed. Install it with: pip install '.[spark]'")
    if shutil.which("java") is None:
        raise UsageError("Spark needs Java 17 or newer, and there is no `java` on the PATH.")


@contextmanager
def spark_session(master: str | None) -> Iterator[SparkSession]:
    """The session that is active, left running, or else a new one on `master`, stopped at the end.

    Raises:
        UsageError: pyspark or Java is not installed, the master's address is none, or a session on another master is
            active.
        MemoryBenchWarehouseError: the master does not answer, or Spark does not start.
    """
    require_pyspark()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        running = active.sparkContext.master
        if master is not None and running != master:
            raise UsageError(f"A Spark session on {running} is active in this process; stop it to use {master}.")
        yield active
        return
    _require_master(master)
    master = master or DEFAULT_MASTER
    builder = SparkSession.builder.master(master).appName(_APPLICATION)
    for name, value in _configuration(master).items():
        builder = builder.config(name, value)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else executors take whichever python3 is on the PATH
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            session = builder.getOrCreate()
    except (Py4JError, PySparkException) as error:
        reason = str(error).splitlines()[0]
        raise MemoryBenchWarehouseError(f"Spark did not start on {master}: {reason}") from error
    try:
        yield session
    finally:
        session.stop()


def _configuration(master: str) -> dict[str, str]:
    log = Path(__file__).with_name("log4j2.properties").as_uri()
    settings = {
        "spark.speculation": "false",  # a second attempt at a group beside a running one would only cost
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log}",
    }
    if master.startswith("local"):  # nobody else has to reach this process
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


def _require_master(master: str | None) -> None:
    """Whether somebody listens where a standalone master should; other kinds of master are left to Spark."""
    if master is None or not master.startswith("spark://"):
        return
    refused = ""
    for address in master.removeprefix("spark://").split(","):
        try:
            parts = urlsplit(f"//{address}")
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host or port is None:
            raise UsageError(f"--master {master} is not of the form spark://HOST:PORT.")
        try:
            socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
            return
        except OSError as error:
            refused = error.strerror or str(error)
    raise MemoryBenchWarehouseError(f"No Spark master answers at {master}: {refused}. Nothing was changed.")
