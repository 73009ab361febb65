"""An archive in a dataset repository of the Hub: which commit, what it holds, and its files on this machine.

One commit is resolved and everything is read from that commit. What changed is told by blob ids alone. Files lie in the
standard cache, as huggingface_hub puts them there, and each one is checked against its blob id before it is handed out.
Retries, messages and the listing belong here; how a file travels (locks, links, Xet) is huggingface_hub's business.

Requests: one for the commit; one for each 1,000 entries of its tree, unless that commit was listed before; a HEAD and a
GET for each file that the cache lacks.

source -> commits -> client -> retries, explanations, cache, progress -> failures, blobs, address. huggingface_hub and
its HTTP library are imported inside of functions only: whoever reads a folder does not wait for them.
"""

from pipelines.archive.hub.address import HubAddress, parse_address
from pipelines.archive.hub.source import HubSource

__all__ = ["HubAddress", "HubSource", "parse_address"]
