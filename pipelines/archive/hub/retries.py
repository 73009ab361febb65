"""Trying again: which failures may pass, and how long to wait for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from pipelines.archive.hub.failures import TOO_MANY_REQUESTS, asked_wait, reason
from pipelines.errors import SourceError

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Seconds before the second, third and fourth try of what the client does not try again itself.
WAITS = (1.0, 2.0, 4.0)
#: A Hub that asks for more patience, in seconds, than this is reported instead.
LONGEST_WAIT = 330.0

#: HTTP statuses after which another try may succeed.
TRANSIENT = (408, TOO_MANY_REQUESTS, 500, 502, 503, 504)
#: Those of them that are left for a download: the client itself waits and tries again after the others.
TRANSIENT_BODY = (500, 502, 503, 504)


class Stopped(Exception):
    """The transfer is not wanted any more."""


def patiently(
    call: Callable[[], T],
    transient: Sequence[int],
    stop: threading.Event,
    failed: Callable[[Exception], SourceError],
    about: object,
) -> T:
    """Call, and again after a failure that may pass. `about` is named in the log.

    Raises:
        SourceError: it did not pass; `failed` makes the error.
        Stopped: `stop` was set while waiting.
    """
    import httpx2

    for wait in (*WAITS, None):
        try:
            return call()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RuntimeError) as error:
            patience = None if wait is None else _patience(error, wait, transient)
            if patience is None:
                raise failed(error) from error
            log.warning("%s: %s; trying again in %.0f s.", about, reason(error), patience)
            pause(patience, stop)
    raise AssertionError("the last try returns or raises")


def pause(seconds: float, stop: threading.Event) -> None:
    """Wait.

    Raises:
        Stopped: `stop` was set meanwhile.
    """
    if stop.wait(seconds):
        raise Stopped


def _patience(error: Exception, wait: float, transient: Sequence[int]) -> float | None:
    """Seconds before another try, or None where it would not help: not after what the client has tried several times,
    nor where nobody listens."""
    import httpx2
    from huggingface_hub.errors import (
        FileMetadataError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
    )

    if isinstance(error, HfHubHTTPError):
        if error.response.status_code not in transient:
            return None
        asked = asked_wait(error.response)
        return max(wait, asked) if asked <= LONGEST_WAIT else None
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return None
    if isinstance(error, FileMetadataError | LocalEntryNotFoundError | OfflineModeIsEnabled):
        return None
    # A body of the wrong length is an OSError without a number; Xet fails with such and with RuntimeErrors.
    passing = isinstance(error, httpx2.TransportError | RuntimeError)
    return wait if passing or (isinstance(error, OSError) and error.errno is None) else None
