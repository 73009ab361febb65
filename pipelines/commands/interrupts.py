"""Ctrl-C, taken where Python can bear it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: How long an interrupt waits before it is tried again.
_RETRY_SECONDS = 0.05
_IMPORT = "<frozen importlib"


@contextmanager
def interrupts() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt while the body runs, but not in the middle of an import.

    There Python may lose the exception, or keep the lock of imports, for which another thread would wait for ever.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # someone else decides what Ctrl-C does
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORT):
            again = threading.Timer(_RETRY_SECONDS, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
            return
        frame = frame.f_back
    if (reader := sys.modules.get("pipelines.client.reader")) is not None:  # else nothing was queried
        reader.interrupt_queries()
    raise KeyboardInterrupt
