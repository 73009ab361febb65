"""One build at a time: a lock on the warehouse that dies with its holder."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pipelines.errors import WarehouseError, WarehouseLocked

LOCK_FILE = ".lock"


@contextmanager
def warehouse_lock(root: Path) -> Iterator[None]:
    """Hold the warehouse at `root` while the body runs.

    The kernel lets go of the lock when the holder dies, however it dies; the file's text only says who holds it.

    Raises:
        WarehouseLocked: another process holds it; the message says which.
        WarehouseError: the folder cannot be written.
    """
    path = root / LOCK_FILE
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise _unwritable(root, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 200).decode(errors="replace").strip() or "another process"
            os.close(descriptor)
            raise WarehouseLocked(f"{root} is being built by {holder}. Try again when it has ended.") from None
        if _is_still(path, descriptor):
            break
        os.close(descriptor)  # the last holder deleted the file between our open and our lock: it is not the lock now
    try:
        started = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()} since {started}".encode())
        except OSError as error:
            raise _unwritable(root, error) from error
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _unwritable(root: Path, error: OSError) -> WarehouseError:
    advice = "Free some space, or choose another with --warehouse."
    if error.errno != errno.ENOSPC:
        advice = "Choose another with --warehouse."
    return WarehouseError(f"{root} cannot be written: {error.strerror}. Nothing was changed. {advice}")
