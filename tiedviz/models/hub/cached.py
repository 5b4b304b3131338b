"""Complete copies of repositories in the cache, found without the Hub and without its client."""

from __future__ import annotations

import re
from pathlib import Path

from tiedviz.models.hub.address import cache_folder
from tiedviz.models.hub.layout import CONFIG, Listing
from tiedviz.words.refusals.hub import NothingToOpen


def cached_snapshot(repo: str, revision: str | None = None) -> Path | None:
    """The folder of a complete copy in the cache, or None. Asks nobody.

    Complete means: the files that its own index, or the layout of one file, names are there.
    """
    reference = _reference(repo, revision or "main")
    commit = reference.read_text().strip() if reference.is_file() else revision or ""
    snapshot = _storage(repo) / "snapshots" / commit
    if not commit or not (snapshot / CONFIG).is_file():
        return None
    found = Listing(repo, commit, {path.name: 0 for path in snapshot.iterdir() if path.exists()})
    try:
        weights = found.weights
    except NothingToOpen:
        return None
    return snapshot if weights and _shards_complete(snapshot, found) else None


def remember_revision(listing: Listing) -> None:
    """Write down which commit the revision meant, so that it is found again without the Hub.

    The Hub's client does so only when it downloads by the revision's name, during which the
    branch could move.
    """
    reference = _reference(listing.repo, listing.revision)
    reference.parent.mkdir(parents=True, exist_ok=True)
    reference.write_text(listing.commit)


def lock_of(repo: str) -> Path:
    """What a process of this app locks while it fetches files of that repository."""
    return cache_folder() / ".locks" / _storage(repo).name / "tiedviz.lock"


def _storage(repo: str) -> Path:
    """The repository's folder in the cache, as the Hub's client lays it out."""
    return cache_folder() / f"models--{repo.replace('/', '--')}"


def _reference(repo: str, revision: str) -> Path:
    return _storage(repo) / "refs" / revision


def _shards_complete(snapshot: Path, found: Listing) -> bool:
    """Whether every shard is there; the names say how many there should be."""
    weights = found.weights
    if found.index is None:
        return True
    promised = re.search(r"-of-(\d+)\.", weights[0])
    return promised is not None and len(weights) == int(promised[1])
