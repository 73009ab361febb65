"""Loads groups in worker processes of this machine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver, get_context, parent_process, resource_tracker

from pipelines.errors import MemoryBenchWarehouseError
from pipelines.load.group_loader import LoadedGroup, LoadTask, load_group

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
    """Load in worker processes; a group starts as soon as its files are here, and a few wait in line at most.

    The workers come from a fork server: forking this process would copy its threads' locks.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(["pipelines.load.group_loader"])
    # Ctrl-C reaches every process of a terminal; this one alone ends the build. The server inherits the blocked signal.
    # The resource tracker, which the server starts first where it does not run yet, would unblock it again.
    resource_tracker.ensure_running()
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    forkserver.ensure_running()
    signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)
    waiting: set[Future[LoadedGroup]] = set()
    try:
        # The workers are started by a thread, which Ctrl-C does not reach: a pool that is half started cannot be ended.
        with ThreadPoolExecutor(1) as starter:
            starter.submit(pool.submit, os.getpid).result()
        for task in tasks:
            waiting.add(pool.submit(load_group, task))
            if len(waiting) >= 2 * workers:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise MemoryBenchWarehouseError(
            "A worker process died, perhaps for lack of memory. Nothing was published; run the build again, with a "
            "smaller --jobs if it happens again."
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _end_with_parent() -> None:
    """Have this worker process die with the build: one that lived on would write into the next build's folder."""
    parent = parent_process()
    assert parent is not None

    def wait_and_end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_and_end, daemon=True).start()
