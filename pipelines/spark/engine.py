"""Loads result groups on Spark's executors, each by the very function that a local build's worker processes run.

The archive's files and the warehouse must be reachable by every executor under the same path (a shared file system,
where there is more than one machine), and so must this package and its dependencies. Spark runs a task again when an
executor is lost, and a lost executor may still be writing; so each attempt writes into a folder of its own, and the
driver moves into place what the attempt whose answer it got has written.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pipelines.errors import MemoryBenchWarehouseError
from pipelines.load.group_loader import LoadedGroup, LoadTask, load_group
from pipelines.load.partitions import partition_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Groups of one Spark job, for each of its parallel tasks: enough that starting a job is no cost, few enough that the
#: first groups are loaded while the last are still being fetched.
_GROUPS_PER_SLOT = 4
#: Jobs under way at a time, so that the slots that one has no more groups for take those of the next.
_JOBS = 2
#: Beside the folder of partitions, in the unpublished snapshot; nothing of it is published.
_ATTEMPTS = "attempts"


def load_on_spark(spark: SparkSession, tasks: Iterator[LoadTask]) -> Iterator[LoadedGroup]:
    """Load each task's group on an executor; results come in the order of the tasks, as jobs end.

    Raises:
        OSError: an executor could not write, as where the disk is full.
        MemoryBenchWarehouseError: Spark gave a job up, after trying again as often as it is configured to.
    """
    size = max(1, spark.sparkContext.defaultParallelism) * _GROUPS_PER_SLOT
    job_group = f"memorybench-{uuid4().hex}"
    running: deque[Future[list[tuple[LoadTask, Path, LoadedGroup]]]] = deque()
    with ThreadPoolExecutor(_JOBS, thread_name_prefix="spark-job") as threads:
        try:
            while batch := list(islice(tasks, size)):
                running.append(threads.submit(_run_job, spark, batch, job_group))
                if len(running) >= _JOBS:
                    yield from _in_place(running.popleft().result())
            while running:
                yield from _in_place(running.popleft().result())
        except BaseException:  # whoever waits has gone, or a group cannot be written: nobody wants the other jobs
            spark.sparkContext.cancelJobGroup(job_group)
            raise


def _run_job(spark: SparkSession, batch: list[LoadTask], job_group: str) -> list[tuple[LoadTask, Path, LoadedGroup]]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    spark.sparkContext.setJobGroup(job_group, "load result groups")
    try:
        answers = spark.sparkContext.parallelize([pickle.dumps(task) for task in batch], len(batch)).map(_load)
        results = [pickle.loads(answer) for answer in answers.collect()]
    except (Py4JError, PySparkException) as error:
        raise MemoryBenchWarehouseError(
            f"Spark gave up loading groups; nothing was published. What it says: {error}"
        ) from error
    for _, loaded in results:
        if isinstance(loaded, OSError):
            raise loaded
    return [(task, folder, loaded) for task, (folder, loaded) in zip(batch, results, strict=True)]


def _load(pickled: bytes) -> bytes:
    """Runs on an executor. A storage error is an answer: trying again would meet the same full disk."""
    task: LoadTask = pickle.loads(pickled)
    folder = task.parquet_dir.parent / _ATTEMPTS / uuid4().hex
    try:
        return pickle.dumps((folder, load_group(replace(task, parquet_dir=folder))))
    except OSError as error:
        return pickle.dumps((folder, OSError(error.errno, error.strerror or str(error), error.filename)))


def _in_place(results: list[tuple[LoadTask, Path, LoadedGroup]]) -> Iterator[LoadedGroup]:
    for task, folder, loaded in results:
        path = task.group.key.partition_path
        for table in loaded.rows:
            target = partition_file(task.parquet_dir, table, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(partition_file(folder, table, path), target)
        shutil.rmtree(folder, ignore_errors=True)
        yield loaded


def remove_attempts(snapshot: Path) -> None:
    """Delete what lost attempts left in an unpublished snapshot."""
    shutil.rmtree(snapshot / _ATTEMPTS, ignore_errors=True)
