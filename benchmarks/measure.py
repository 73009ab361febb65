"""Runs commands in alternation and measures each as a whole: seconds, and the peak memory of all its processes.

Memory is taken in a round of its own: to add up the pages of a process every few hundredths of a second slows it by a
tenth.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SAMPLE_SECONDS = 0.05


@dataclass
class Figures:
    """What the runs of one command took. Memory is the proportional set size of all its processes, in MiB."""

    seconds: list[float] = field(default_factory=list)
    peak_mib: list[float] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @property
    def median_seconds(self) -> float:
        return statistics.median(self.seconds)

    @property
    def max_peak_mib(self) -> float:
        return max(self.peak_mib)


@dataclass(frozen=True)
class Run:
    """A command and what to do before each of its runs, which is not measured."""

    command: Sequence[str]
    prepare: Callable[[], None] = lambda: None
    allowed_status: tuple[int, ...] = (0,)
    environment: Mapping[str, str] = field(default_factory=dict)


def alternate(runs: Mapping[str, Run], rounds: int, *, memory: bool = True) -> dict[str, Figures]:
    """Run all commands in turn, `rounds` times: a machine that slows down slows all of them; and once more for
    `memory`.

    Raises:
        RuntimeError: a command ended with an unexpected status; its error output is in the message.
    """
    figures = {name: Figures() for name in runs}
    for number in range(rounds):
        for name, run in runs.items():
            run.prepare()
            seconds, output = seconds_of(run)
            figures[name].seconds.append(seconds)
            figures[name].outputs.append(output)
            print(f"round {number + 1}: {name}: {seconds:.2f} s", file=sys.stderr)
    for name, run in runs.items() if memory else ():
        run.prepare()
        figures[name].peak_mib.append(peak_mib_of(run))
        print(f"memory: {name}: {figures[name].max_peak_mib:.0f} MiB", file=sys.stderr)
    return figures


def seconds_of(run: Run) -> tuple[float, str]:
    """Seconds and standard output of one run."""
    started = time.perf_counter()
    output = _ended(run, _started(run))
    return time.perf_counter() - started, output


def peak_mib_of(run: Run) -> float:
    """The highest sum over all processes of one run, in MiB."""
    process = _started(run)
    peak = 0.0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(SAMPLE_SECONDS):
            peak = max(peak, sum(map(_pss_mib, _family(process.pid))))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        _ended(run, process)
    finally:
        done.set()
        watcher.join()
    return peak


def _started(run: Run) -> subprocess.Popen[str]:
    return subprocess.Popen(
        run.command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **run.environment},
    )


def _ended(run: Run, process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate()
    if process.returncode not in run.allowed_status:
        raise RuntimeError(f"{' '.join(run.command)} ended with {process.returncode}:\n{errors[-3000:]}")
    return output


def _family(pid: int) -> list[int]:
    family = [pid]
    for member in family:
        for children in Path(f"/proc/{member}/task").glob("*/children"):
            try:
                family += [int(child) for child in children.read_text().split()]
            except OSError:
                continue  # the process ended while it was looked at
    return family


def _pss_mib(pid: int) -> float:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        return 0.0  # the process ended while it was looked at
    return 0.0
