"""Runs `mbw` in this process with one fault set up to happen in it.

    python -m tests.faults.inject ACTION PLACE [--nth N] [--delay SECONDS] [--filler FILE] [--room BYTES] -- ARGUMENTS

ACTION: kill (SIGKILL of this process), interrupt (SIGINT to the process group, as a terminal sends it), fill (the disk
of --filler is filled up to --room bytes), crash (SIGKILL of one worker process), count (nothing; the number of times
that PLACE was reached goes to stderr).
PLACE: `change` (this process is about to change the file system below the warehouse), or a function by its
module:name, which is about to be called. With --delay the fault happens in another thread, that much later.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

#: Audit events that change the file system; the first argument is a path.
CHANGES = {"os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def kill(_: argparse.Namespace) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt(_: argparse.Namespace) -> None:
    os.killpg(os.getpgrp(), signal.SIGINT)


def fill(args: argparse.Namespace) -> None:
    with open(args.filler, "ab", buffering=0) as filler:
        try:
            while True:
                filler.write(b"\0" * 65536)
        except OSError:
            pass
        filler.truncate(max(0, filler.seek(0, os.SEEK_END) - args.room))


def crash(_: argparse.Namespace) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for worker in multiprocessing.active_children():
            assert worker.pid is not None
            os.kill(worker.pid, signal.SIGKILL)
            return
        time.sleep(0.01)
    raise RuntimeError("there is no worker process to kill")


def count(_: argparse.Namespace) -> None:
    """Nothing happens."""


ACTIONS: dict[str, Callable[[argparse.Namespace], None]] = {
    "kill": kill,
    "interrupt": interrupt,
    "fill": fill,
    "crash": crash,
    "count": count,
}


class Fault:
    """Counts how often its place is reached and acts once, the nth time."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.reached = 0

    def reach(self) -> None:
        self.reached += 1
        if self.reached != self.args.nth:
            return
        if self.args.delay:
            threading.Timer(self.args.delay, ACTIONS[self.args.action], [self.args]).start()
        else:
            ACTIONS[self.args.action](self.args)


def before_call(place: str, fault: Fault) -> None:
    """Have the fault reached before each call of the function at `place`."""
    module_name, _, name = place.partition(":")
    owner: Any = importlib.import_module(module_name)
    *parents, last = name.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    original = getattr(owner, last)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        fault.reach()
        return original(*args, **kwargs)

    wrapped.__name__ = last
    setattr(owner, last, wrapped)


def before_change(root: str, fault: Fault) -> None:
    """Have the fault reached before each change of the file system below `root`."""
    acting = False

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal acting
        if event == "open":
            changes = isinstance(args[2], int) and bool(args[2] & WRITING)
        else:
            changes = event in CHANGES
        if not changes or acting:
            return
        paths = [os.fsdecode(a) for a in args if isinstance(a, (str, bytes, os.PathLike))]
        inside = any(path.startswith(root) for path in paths) or any(not os.path.isabs(path) for path in paths)
        if inside:
            acting = True
            fault.reach()
            acting = False

    sys.addaudithook(hook)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=ACTIONS)
    parser.add_argument("place")
    parser.add_argument("--nth", type=int, default=1)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--filler")
    parser.add_argument("--room", type=int, default=0)
    split = sys.argv.index("--")
    args = parser.parse_args(sys.argv[1:split])
    command = sys.argv[split + 1 :]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it
    fault = Fault(args)
    if args.place == "change":
        before_change(command[command.index("--warehouse") + 1], fault)
    else:
        before_call(args.place, fault)
    from pipelines.cli import main as mbw

    status = mbw(command)
    print(f"reached {fault.reached}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
