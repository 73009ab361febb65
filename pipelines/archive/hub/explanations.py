"""What happened and what to do about it, in words of our own: what the client's messages quote (signed addresses, the
whole URL) is left out."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pipelines.archive.hub.address import DEFAULT_REVISION, HubAddress
from pipelines.archive.hub.failures import TOO_MANY_REQUESTS, asked_wait, cause_of, reason
from pipelines.errors import SourceError

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError


@dataclass(frozen=True)
class Explainer:
    """Words a failure, by what was asked for, whom, and into which cache."""

    address: HubAddress
    endpoint: str
    cache_dir: Path
    offline: bool

    def not_a_hub(self) -> SourceError:
        """An answer that no Hub gives."""
        return SourceError(f"{self.address}: {self._not_a_hub}")

    def failure(self, error: Exception, doing: str) -> SourceError:
        """An exception of the client or of the connection; `doing` says what it came in the way of."""
        return SourceError(f"{self.address}: {self._explanation(error)} ({doing})")

    @property
    def _place(self) -> str:
        """The endpoint, without a password."""
        parts = urlsplit(self.endpoint)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def _not_a_hub(self) -> str:
        return f"{self._place} does not answer as a Hub. Check HF_ENDPOINT and proxies."

    def _explanation(self, error: Exception) -> str:
        import httpx2
        from huggingface_hub import errors

        cause = cause_of(error)
        if isinstance(cause, errors.OfflineModeIsEnabled) or (self.offline and isinstance(cause, FileNotFoundError)):
            return "HF_HUB_OFFLINE is set, and the cache does not hold this. Build without HF_HUB_OFFLINE."
        if isinstance(cause, errors.HfHubHTTPError):
            return self._refusal(cause)
        if isinstance(cause, httpx2.TransportError):
            return self._broken_connection(cause)
        if isinstance(cause, httpx2.HTTPError | httpx2.InvalidURL | errors.FileMetadataError):
            return self._not_a_hub
        if isinstance(cause, OSError) and cause.errno == errno.ENOSPC:
            return f"no space is left in {self.cache_dir}. Free some, or set HF_HOME to another disk."
        if isinstance(cause, OSError) and cause.errno is not None:
            return f"the cache in {self.cache_dir} cannot be used: {cause.strerror}. HF_HOME names another place."
        if type(cause) is OSError:
            return "it arrived with another size than announced, several times. Try again later."
        return f"the transfer failed ({reason(cause)}). Try again later; HF_HUB_DISABLE_XET=1 does without Xet."

    def _refusal(self, error: HfHubHTTPError) -> str:
        """The Hub answered, and not with what was asked for."""
        from huggingface_hub import errors

        repo_id, revision = self.address
        status = error.response.status_code
        if isinstance(error, errors.GatedRepoError):
            return (
                f"access is gated ({status}). Ask for it on {self._place}/datasets/{repo_id}, then log in with "
                "`hf auth login` or set HF_TOKEN."
            )
        if isinstance(error, errors.RevisionNotFoundError):
            missing = revision or DEFAULT_REVISION
            return f"the repository has no revision {missing!r} (any more). Name a branch, a tag or a commit."
        if isinstance(error, errors.EntryNotFoundError):
            return "the Hub lists this file and does not have it. Try again later."
        if status == 401:
            return (
                "the Hub refuses access (401): there is no such repository, or it is private, or the token is not "
                "valid. Check the address; log in with `hf auth login` or set HF_TOKEN."
            )
        if status == 403:
            return (
                "the Hub refuses access (403): the token may not read this repository, or access to it is "
                "disabled. Use a token that may read it."
            )
        if status == 404:
            return "there is no such dataset repository (404). Check the address; a private one needs a token."
        if status == TOO_MANY_REQUESTS:
            asked = asked_wait(error.response)
            wait = f" and asks to wait {asked:.0f} s" if asked else ""
            return f"the Hub limits requests (429){wait}. Try again later; who is logged in may ask more often."
        if status >= 500:
            return f"the Hub is in trouble ({status}), and did not recover. Try again later."
        return f"the Hub answered {status}. Check HF_ENDPOINT, proxies and the address."

    def _broken_connection(self, error: Exception) -> str:
        """The Hub did not answer."""
        import httpx2
        from huggingface_hub import constants

        if isinstance(error, httpx2.ProxyError):
            return f"the proxy does not let us through ({reason(error)}). Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY."
        if isinstance(error, httpx2.TimeoutException):
            return (
                f"{self._place} did not answer within {constants.HF_HUB_DOWNLOAD_TIMEOUT:g} s, several times. "
                "Try again later; HF_HUB_DOWNLOAD_TIMEOUT and HF_HUB_ETAG_TIMEOUT raise the limit."
            )
        if isinstance(error, httpx2.ConnectError):
            return (
                f"{self._place} cannot be reached ({reason(error)}). Check the network, proxies and HF_ENDPOINT; "
                "HF_HUB_OFFLINE=1 builds from what the cache holds."
            )
        return f"the connection to {self._place} broke, several times ({reason(error)}). Try again later."
