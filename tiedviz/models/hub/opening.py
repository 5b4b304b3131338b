"""Bringing a repository into the cache; all that can be checked is, before the weights come."""

from __future__ import annotations

from pathlib import Path

from tiedviz.files.facts import ModelFacts
from tiedviz.models.hub.cached import cached_snapshot
from tiedviz.models.hub.download import download
from tiedviz.models.hub.headers import remote_facts
from tiedviz.models.hub.layout import Listing
from tiedviz.models.hub.listing import list_repository
from tiedviz.models.machine import require_memory
from tiedviz.models.progress import Report, Step
from tiedviz.words.refusals.hub import HubOffline, HubUnreachable


def repository_folder(repo: str, revision: str | None, report: Report) -> Path:
    """The folder of the repository's files. The Hub is asked first: a branch may have moved.

    Where it cannot be asked (no network, or the person wants none) a complete copy in the cache
    serves.

    Raises:
        HubRefusal, FileRefusal, TooLittleMemory, TooLittleDisk: nothing was downloaded in vain.
    """
    cached = cached_snapshot(repo, revision)
    report(Step("Asking the Hub"))
    try:
        listing = list_repository(repo, revision)
    except (HubUnreachable, HubOffline):
        if cached is None:
            raise
        return cached
    if cached is not None and cached.name == listing.commit:
        return cached
    listing.check()
    facts = remote_facts(listing)
    require_memory(repo, memory_needed(listing, facts))
    return download(listing, report)


def memory_needed(listing: Listing, facts: ModelFacts | None) -> int:
    """Bytes of the weights in float32; where no header could be read, as if stored in 16 bits."""
    if facts is not None:
        return facts.float32_bytes
    return 2 * listing.size_of(listing.weights)
