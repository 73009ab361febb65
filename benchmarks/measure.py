"""Runs commands in alternation and measures each as a whole: seconds and the peak memory of all its processes."""

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


def alternate(runs: Mapping[str, Run], rounds: int) -> dict[str, Figures]:
    """Run all commands in turn, `rounds` times: a machine that slows down slows all of them.

    Raises:
        RuntimeError: a command ended with an unexpected status; its error output is in the message.
    """
    figures = {name: Figures() for name in runs}
    for number in range(rounds):
        for name, run in runs.items():
            run.prepare()
            seconds, peak, output = measure(run)
            figures[name].seconds.append(seconds)
            figures[name].peak_mib.append(peak)
            figures[name].outputs.append(output)
            print(f"round {number + 1}: {name}: {seconds:.2f} s, {peak:.0f} MiB", file=sys.stderr)
    return figures


def measure(run: Run) -> tuple[float, float, str]:
    """Seconds, peak MiB and standard output of one run."""
    started = time.perf_counter()
    process = subprocess.Popen(
        run.command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **run.environment},
    )
    peak = 0.0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(SAMPLE_SECONDS):
            peak = max(peak, sum(map(_pss_mib, _family(process.pid))))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    output, errors = process.communicate()
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    if process.returncode not in run.allowed_status:
        raise RuntimeError(f"{' '.join(run.command)} ended with {process.returncode}:\n{errors[-3000:]}")
    return seconds, peak, output


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
