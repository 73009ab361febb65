"""Chooses the source for an address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.archive.local import LocalSource
from pipelines.archive.source import Source
from pipelines.config import SAMPLE


@contextmanager
def open_source(address: str) -> Iterator[Source]:
    """The source at `address`: the bundled sample (`sample`), a dataset repository (`hf://…`), or a folder.

    Raises:
        SourceError: there is no archive at the address.
        UsageError: the address is not of a known form.
    """
    if address == SAMPLE:
        from pipelines.archive.sample import write_sample

        with TemporaryDirectory(prefix="memorybench-sample-") as folder:
            write_sample(Path(folder))
            yield SampleSource(folder)
    else:
        yield LocalSource(address)


class SampleSource(LocalSource):
    """The bundled sample archive, written anew into a temporary folder each time."""

    @property
    def name(self) -> str:
        return SAMPLE
