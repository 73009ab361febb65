"""Which commit an address means now, and what it holds, by the Hub or by the cache alone."""

from __future__ import annotations

import logging

from pipelines.archive.hub.address import DEFAULT_REVISION
from pipelines.archive.hub.blobs import Commit, is_commit
from pipelines.archive.hub.client import HubClient
from pipelines.errors import SourceError
from pipelines.findings import Finding

log = logging.getLogger(__name__)


def current_commit(client: HubClient) -> tuple[Commit, list[Finding]]:
    """The commit as the Hub has it, with a finding where the repository was renamed. The cache remembers both.

    Raises:
        SourceError: the Hub does not say.
    """
    asked, revision = client.address
    repo_id, sha = client.resolve()
    findings = []
    if repo_id != asked:
        message = f"{asked} is called {repo_id} now: change the address"
        log.warning("%s.", message)
        findings.append(Finding("renamed_repository", "info", message))
    tree = client.cache.tree(repo_id, sha)
    if tree is None:
        tree = client.tree(repo_id, sha)
        client.cache.keep_tree(repo_id, sha, tree)
    if revision is None or not is_commit(revision):
        # Under the old name too, so that offline the name does not lead to an older commit.
        for name in {repo_id, asked}:
            client.cache.keep_ref(name, revision or DEFAULT_REVISION, sha)
    return Commit(repo_id, sha, tree), findings


def cached_commit(client: HubClient) -> tuple[Commit, list[Finding]]:
    """The commit that the cache last saw, with a finding that says so. Asks nobody.

    Raises:
        SourceError: the cache does not know it.
    """
    repo_id, revision = client.address
    revision = revision or DEFAULT_REVISION
    sha = revision if is_commit(revision) else client.cache.ref(repo_id, revision)
    tree = None if sha is None else client.cache.tree(repo_id, sha)
    if sha is None or tree is None:
        raise SourceError(
            f"{client.address}: HF_HUB_OFFLINE is set, and the cache in {client.cache.folder} does not know "
            f"{'this revision' if sha is None else f'what commit {sha} holds'}. Build once without HF_HUB_OFFLINE."
        )
    message = f"HF_HUB_OFFLINE is set: this is commit {sha} of the cache; the Hub was not asked for a newer one"
    log.warning("%s: %s.", client.address, message)
    return Commit(repo_id, sha, tree), [Finding("offline_source", "info", message)]
