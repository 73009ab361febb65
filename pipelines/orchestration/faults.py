"""What becomes of an error: a fault of the network is tried again, everything else fails the step at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from pipelines.errors import MemoryBenchWarehouseError, SourceError, WarehouseLocked

#: Tries after the first one, and the seconds before the first of them; each further wait is twice as long.
MAX_RETRIES = 3
FIRST_WAIT = 30.0

_TRANSIENT_STATUS = (408, 429)


def is_transient(error: Exception) -> bool:
    """Whether the same call may well succeed a little later: the network, a Hub in trouble, or another build that holds
    the warehouse. A missing repository or bad data is none of these."""
    if isinstance(error, WarehouseLocked):
        return True
    if not isinstance(error, SourceError):
        return False
    cause: BaseException | None = error.__cause__
    while cause is not None:
        status = getattr(getattr(cause, "response", None), "status_code", None)
        if status is not None:
            return status in _TRANSIENT_STATUS or status >= 500
        if isinstance(cause, ConnectionError | TimeoutError) or _is_transport_error(cause):
            return True
        cause = cause.__cause__
    return False


def _is_transport_error(error: BaseException) -> bool:
    import httpx2

    return isinstance(error, httpx2.TransportError)


@contextmanager
def reported(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> Iterator[None]:
    """Turn the pipeline's errors into what Dagster acts on. Bugs keep their traceback."""
    try:
        yield
    except MemoryBenchWarehouseError as error:
        retries = context.op_execution_context.retry_number
        if is_transient(error) and retries < MAX_RETRIES:
            wait = FIRST_WAIT * 2**retries
            context.log.warning(f"{error} Trying again in {wait:.0f} s.")
            raise dg.RetryRequested(max_retries=MAX_RETRIES, seconds_to_wait=wait) from error
        raise dg.Failure(description=str(error), allow_retries=False) from error
