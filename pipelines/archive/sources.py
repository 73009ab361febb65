"""Chooses the source for an address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.archive.local import LocalSource
from pipelines.archive.source import Source
from pipelines.config import HUB_PREFIX, SAMPLE

#: Told how many bytes have been downloaded, and how many there are to download.
DownloadProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class HubOptions:
    """What only the Hub knows: where downloads are cached (`no_cache`: nowhere), and who watches them."""

    no_cache: bool = False
    cache_dir: str | None = None
    progress: DownloadProgress | None = None


@contextmanager
def open_source(address: str, hub: HubOptions | None = None) -> Iterator[Source]:
    """The source at `address`: the bundled sample (`sample`), a dataset repository (`hf://datasets/OWNER/NAME[@REV]`),
    or a folder.

    Raises:
        SourceError: there is no archive at the address.
        UsageError: the address is not of a known form.
    """
    if address == SAMPLE:
        from pipelines.archive.sample import write_sample

        with TemporaryDirectory(prefix="memorybench-sample-") as folder:
            write_sample(Path(folder))
            yield SampleSource(folder)
    elif address.startswith(HUB_PREFIX):
        from pipelines.archive.hub import HubSource, parse_address

        place = parse_address(address)
        hub = hub or HubOptions()
        with HubSource(
            place.repo_id, place.revision, no_cache=hub.no_cache, cache_dir=hub.cache_dir, progress=hub.progress
        ) as source:
            yield source
    else:
        yield LocalSource(address)


class SampleSource(LocalSource):
    """The bundled sample archive, written anew into a temporary folder each time."""

    @property
    def name(self) -> str:
        return SAMPLE
