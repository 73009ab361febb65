"""Shows the progress of a build: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pipelines.refresh import Progress

if TYPE_CHECKING:
    from pipelines.archive.sources import DownloadProgress


def progress_for_terminal() -> Progress:
    """A bar where stderr is a terminal."""
    return ProgressBar() if sys.stderr.isatty() else Progress()


class ProgressBar(Progress):
    """One bar for each step, which counts groups and shows the bytes read."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._bytes = 0

    def start(self, step: str, total: int) -> None:
        from tqdm import tqdm

        self._bytes = 0
        self._bar = tqdm(total=total or None, desc=step, unit=" groups", file=sys.stderr, leave=False)

    def advance(self, group_id: str, n_bytes: int) -> None:
        from pipelines.commands.status import size_text

        self._bytes += n_bytes
        if self._bytes:
            self._bar.set_postfix_str(size_text(self._bytes), refresh=False)
        self._bar.update()

    def end(self) -> None:
        self._bar.close()


@contextmanager
def download_bar() -> Iterator[DownloadProgress | None]:
    """Shows how much of a download is here, below the bar of the step, where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    bars: list[Any] = []

    def show(done: int, total: int) -> None:
        if not total:
            return
        if not bars:
            bars.append(
                tqdm(total=total, desc="download", unit="B", unit_scale=True, position=1, file=sys.stderr, leave=False)
            )
        bars[0].update(done - bars[0].n)

    try:
        yield show
    finally:
        for bar in bars:
            bar.close()
