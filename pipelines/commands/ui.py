"""`mbw ui`: the Dagster UI on a warehouse, with the daemon that runs schedules and sensors."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.commands.arguments import DONE, FAILED, add_warehouse, named, positive, warehouse_of

if TYPE_CHECKING:
    from argparse import _SubParsersAction

HELP = "open the Dagster UI on this warehouse"
DESCRIPTION = (
    "Starts Dagster's web interface and its daemon on the warehouse, and ends both with Ctrl-C. Runs, schedules and "
    "checks are remembered in .dagster inside the warehouse's folder."
)
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 3000
#: Seconds that Dagster's processes have to end by themselves.
_PATIENCE = 20.0
_STOPPING = f"mbw: stopping… (up to {_PATIENCE:.0f} s)\n".encode()


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("ui", help=HELP, description=DESCRIPTION)
    parser.add_argument(
        "--source",
        metavar="SOURCE",
        type=named,
        help="what a refresh reads, as for mbw build (default: MBW_SOURCE, else what the warehouse was "
        "built from, else sample)",
    )
    add_warehouse(parser)
    parser.add_argument(
        "--host", default=DEFAULT_HOST, help=f"address to listen on (default: {DEFAULT_HOST}, this machine alone)"
    )
    parser.add_argument(
        "--port", metavar="N", type=positive, default=DEFAULT_PORT, help=f"port to listen on (default: {DEFAULT_PORT})"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from pipelines.config import SAMPLE, default_source
    from pipelines.load.snapshots import Warehouse
    from pipelines.orchestration.instance import MODULE, prepare_home

    _require_free(args.host, args.port)
    warehouse = Warehouse(warehouse_of(args))
    warehouse.create()
    home = prepare_home(warehouse.root)
    published = warehouse.current()
    source = args.source or default_source(published.info.source if published else SAMPLE)
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "MBW_WAREHOUSE": str(warehouse.root),
        "MBW_SOURCE": _absolute(source),
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    command = [sys.executable, "-W", "ignore", "-m", "dagster", "dev", "--module-name", MODULE]
    command += ["--host", args.host, "--port", str(args.port)]
    print(f"mbw: the Dagster UI comes up at http://{args.host}:{args.port} (Ctrl-C ends it)", file=sys.stderr)
    # In a session of its own: a terminal's Ctrl-C reaches this process alone, which then ends the others in order.
    process = subprocess.Popen(command, cwd=home, env=environment, start_new_session=True)
    return _wait(process)


def _absolute(source: str) -> str:
    """A folder by its whole path, since Dagster's processes work in another one."""
    return str(Path(source).expanduser().absolute()) if Path(source).expanduser().is_dir() else source


def _require_free(host: str, port: int) -> None:
    from pipelines.errors import UsageError

    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"{host}:{port} cannot be listened on: {reason}. Choose another with --port or --host."
        ) from error


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Until Dagster ends, or we are asked to end it: by Ctrl-C or SIGTERM, which is a normal end."""
    asked = False

    def end(*_: object) -> None:
        nonlocal asked
        if not asked:
            asked = True
            # Not print: this may have interrupted one. A terminal that has gone must not keep Dagster from ending.
            with contextlib.suppress(OSError):
                os.write(sys.stderr.fileno(), _STOPPING)
            process.send_signal(signal.SIGINT)
            signal.alarm(int(_PATIENCE))

    def hurry(*_: object) -> None:
        _signal_all(process, signal.SIGKILL)

    handlers = {signal.SIGINT: end, signal.SIGTERM: end, signal.SIGALRM: hurry}
    previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        status = process.wait()
    finally:
        signal.alarm(0)
        _signal_all(process, signal.SIGKILL)  # what is left of its session: servers and runs whose parent has gone
        for number, handler in previous.items():
            signal.signal(number, handler)
    return DONE if asked or status == 0 else FAILED


def _signal_all(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
