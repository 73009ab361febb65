"""Imports Great Expectations, which takes seconds: once, never before it is needed, and without what is not.

No network and no telemetry: the switch is set before the import. Of what Great Expectations imports, some has no part
in checking frames, and takes a third of the time and 70 MiB: it is hidden where Great Expectations does without it, and
otherwise imported when it is first used, which is never.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

_TELEMETRY_SWITCH = "GX_ANALYTICS_ENABLED"
#: Imported where they are installed: other storage and engines.
_OPTIONAL = ("boto3", "botocore", "pyspark", "pyspark.sql.connect")
#: Needed for charts of distributions and for tests of them, none of which is asked for here.
_UNUSED = ("altair", "scipy.stats")


def preload() -> None:
    """Import Great Expectations, so that a later run does not wait for it. Safe to call in another thread."""
    os.environ[_TELEMETRY_SWITCH] = "False"
    with ExitStack() as stack:
        stack.enter_context(_no_collection())
        stack.enter_context(_Hidden(_OPTIONAL))
        for name in _UNUSED:
            stack.enter_context(_deferred(name))
        import great_expectations
        import great_expectations.expectations

    assert great_expectations.expectations is not None


@contextmanager
def _no_collection() -> Iterator[None]:
    """An import makes a million objects that all stay; to look through them again and again takes a fifth of its
    time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Hidden(MetaPathFinder):
    """Lets imports of some modules by this thread fail as if they were not installed, unless they are imported already.

    Great Expectations imports pyspark wherever that is installed, Spark Connect included. That takes a second, and
    Spark Connect ends the process with status 0 where the main module has no file (python -c, a worker process),
    because it takes that for its own doctests. What is checked here is never Spark's.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._thread = threading.get_ident()

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        if name in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{name} is not imported by what checks tables", name=name)

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *error: object) -> None:
        sys.meta_path.remove(self)


class _Deferred(ModuleType):
    """Stands for a module that is imported when one of its names is first asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


@contextmanager
def _deferred(module: str) -> Iterator[None]:
    """Let imports of a module, unless it is imported already, give one that is imported at first use.

    What importlib.util.LazyLoader makes would be imported at once: `inspect` asks every module for its `__file__`.
    """
    spec = None if module in sys.modules else importlib.util.find_spec(module)
    if spec is None:
        yield
        return
    stand_in = _Deferred(module)
    stand_in.__spec__, stand_in.__file__ = spec, spec.origin
    stand_in.__path__ = spec.submodule_search_locations or []
    sys.modules[module] = stand_in
    try:
        yield
    finally:
        if sys.modules.get(module) is stand_in:
            del sys.modules[module]
