"""Where the process of `mbw` begins and ends. It imports nothing that takes long before Ctrl-C is cared for."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType

#: The exit status of `pipelines.commands.arguments`, which is not imported yet.
_INTERRUPTED = 130


def entry() -> int:
    """`pipelines.cli.main` in a process of its own, which then ends; returns its exit status."""
    takes_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if takes_interrupts:
        signal.signal(signal.SIGINT, _nothing_has_begun)
    from pipelines.cli import main

    if takes_interrupts:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    status = main()
    if status == _INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # pressed again, it would only add its words to the end
    # What is left is let go of at once. Python would look through all of it for cycles, most of a second after a build.
    gc.freeze()
    return status


def _nothing_has_begun(number: int, frame: FrameType | None) -> None:
    """While commands are imported there is nothing to clear up, and nothing that an exception in the middle could
    leave half done."""
    os.write(2, b"mbw: interrupted\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(entry())
