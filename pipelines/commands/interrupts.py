"""Ctrl-C, taken where Python can bear it, and once."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: How long an interrupt waits before it is tried again.
_RETRY_SECONDS = 0.05
_IMPORT = "<frozen importlib"


#: For so long after an interrupt another one is passed over: people press it twice, and what it would cut short is the
#: clearing up.
_CLEARING_SECONDS = 10.0


@contextmanager
def interrupts() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt while the body runs, but not in the middle of an import.

    There Python may lose the exception, or keep the lock of imports, for which another thread would wait for ever.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # someone else decides what Ctrl-C does
        return
    signal.signal(signal.SIGINT, _Interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Interrupt:
    """Handles the signal."""

    def __init__(self) -> None:
        self._accepted = -math.inf

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if time.monotonic() - self._accepted < _CLEARING_SECONDS or _importing(number, frame):
            return
        self._accepted = time.monotonic()
        if (reader := sys.modules.get("pipelines.client.reader")) is not None:  # else nothing was queried
            reader.interrupt_queries()
        raise KeyboardInterrupt


def _importing(number: int, frame: FrameType | None) -> bool:
    """Whether it came in the middle of an import; then it comes again."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORT):
            again = threading.Timer(_RETRY_SECONDS, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
            return True
        frame = frame.f_back
    return False
