"""How much of a download is here: adds up what huggingface_hub tells its progress bars."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Self

from pipelines.archive.groups import ArchiveFile
from pipelines.archive.hub.retries import Stopped

#: Told how many bytes are here and how many there will be; called from several threads, one call at a time.
Progress = Callable[[int, int], None]


class Meter:
    """Adds up what the threads receive. A file that is sent again counts once."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._received: dict[str, int] = {}
        self._done = 0
        self._lock = threading.Lock()

    def set(self, file: ArchiveFile, received: int) -> None:
        """So many bytes of a file are here."""
        with self._lock:
            received = min(received, file.bytes)
            self._done += received - self._received.get(file.path, 0)
            self._received[file.path] = received
            if self._progress is not None:
                self._progress(self._done, self._total)

    def bar(self, file: ArchiveFile, stop: threading.Event) -> type:
        """What the client takes for a tqdm class: its bars draw nothing, count here, and end a transfer on `stop`."""
        meter = self

        class Bar:
            total: int | None = None

            def __init__(self, *_: object, initial: int = 0, **options: object) -> None:
                self._received = initial
                # Xet calls from threads of its own, where an exception only makes noise; it alone sets a format.
                self._may_stop = "bar_format" not in options
                meter.set(file, initial)

            def __enter__(self) -> Self:
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def update(self, n: float | None = 1) -> None:
                if self._may_stop and stop.is_set():
                    raise Stopped
                self._received += int(n or 0)
                meter.set(file, self._received)

            def update_transfer(self, n: float | None = 1) -> None:
                pass

            def set_postfix_str(self, *_: object, **__: object) -> None:
                pass

            def set_transfer_postfix_str(self, *_: object, **__: object) -> None:
                pass

            def refresh(self) -> None:
                pass

            def close(self) -> None:
                pass

        return Bar
