"""Worker processes of this machine, and the loading of groups in them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process, resource_tracker
from typing import TypeVar

from pipelines.errors import MemoryBenchWarehouseError
from pipelines.load.group_loader import LoadedGroup, LoadTask, load_group

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

#: Below this many bytes a pool of processes costs more than it saves.
IN_PROCESS_BYTES = 2 << 20


def load_groups(tasks: Iterable[LoadTask], workers: int, n_bytes: int) -> Iterator[LoadedGroup]:
    """Load each group, in `workers` processes where there are enough of the `n_bytes`; in no order.

    Raises:
        MemoryBenchWarehouseError: a worker process died.
    """
    if workers <= 1 or n_bytes < IN_PROCESS_BYTES:
        yield from map(load_group, tasks)
    else:
        yield from _load_in_processes(tasks, workers)


def _load_in_processes(tasks: Iterable[LoadTask], workers: int) -> Iterator[LoadedGroup]:
    """Load in worker processes; a group starts as soon as its files are here, and a few wait in line at most."""
    advice = "Nothing was published; run the build again, with a smaller --jobs if it happens again."
    waiting: set[Future[LoadedGroup]] = set()
    with WorkerPool(workers, advice) as pool:
        for task in tasks:
            waiting.add(pool.submit(load_group, task))
            if len(waiting) >= 2 * workers:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)


class WorkerPool:
    """Up to `workers` processes that Ctrl-C does not reach and that end with this one, or with the `with` statement.

    They are started anew rather than forked, which would copy this process with its threads' locks, and not by a fork
    server, which starts them no sooner and stays, with 50 MB, until this process ends.

    Where one of them dies, the `with` statement raises a MemoryBenchWarehouseError, which ends with the `advice`.
    """

    def __init__(self, workers: int, advice: str) -> None:
        self._advice = advice
        # Ctrl-C reaches every process of a terminal; this one alone ends the work. The workers are started by a thread
        # that blocks the signal, which they inherit, and which it does not leave with a worker that is half started.
        # The resource tracker, which the first worker would start, would unblock it again.
        resource_tracker.ensure_running()
        self._pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_end_with_parent)
        self._starter = ThreadPoolExecutor(1, initializer=_block_interrupts)

    def submit(self, work: Callable[[_Task], _Result], task: _Task) -> Future[_Result]:
        """Have a worker do it, as soon as one is free."""
        return self._starter.submit(self._pool.submit, work, task).result()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._starter.shutdown()
        self._pool.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            message = f"A worker process died, perhaps for lack of memory. {self._advice}"
            raise MemoryBenchWarehouseError(message) from error


def _block_interrupts() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])


def _end_with_parent() -> None:
    """Have this worker process die with the one that started it: a worker of a build that lived on would write into the
    next build's folder."""
    parent = parent_process()
    assert parent is not None

    def wait_and_end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_and_end, daemon=True).start()
