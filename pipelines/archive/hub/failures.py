"""What an exception of huggingface_hub tells: what is behind it, in a few words, and how long the Hub asks to wait."""

from __future__ import annotations

from typing import Any

TOO_MANY_REQUESTS = 429


def cause_of(error: Exception) -> Exception:
    """The failure behind the two errors in which the client wraps one."""
    wrapped = type(error).__name__ == "LocalEntryNotFoundError" or type(error) is ValueError
    return error.__cause__ if wrapped and isinstance(error.__cause__, Exception) else error


def reason(error: Exception) -> str:
    """A failure in a few words. Only messages of the connection itself are quoted: others may hold signed addresses."""
    import httpx2

    response = getattr(error, "response", None)
    if response is not None:
        return f"the Hub answered {response.status_code}"
    quotable = isinstance(error, httpx2.TransportError) and str(error)
    return str(error) if quotable else type(error).__name__


def asked_wait(response: Any) -> float:
    """Seconds that the Hub asks to wait, 0 where it asks for none."""
    from huggingface_hub.utils import parse_ratelimit_headers

    limit = parse_ratelimit_headers(response.headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    after = response.headers.get("Retry-After", "").strip()
    return float(after) if after.isdigit() else 0.0
