"""Asking the Hub what a repository holds: its commit, its files and their sizes."""

from __future__ import annotations

from huggingface_hub import HfApi

from tiedviz.models.hub.address import TIMEOUT, endpoint, offline
from tiedviz.models.hub.asking import hub_errors
from tiedviz.models.hub.layout import Listing
from tiedviz.words.refusals.hub import HubOffline


def list_repository(repo: str, revision: str | None = None) -> Listing:
    """What the Hub holds under this name now.

    Raises:
        HubRefusal: one of its kinds; within a few seconds.
    """
    if offline():
        raise HubOffline(repo)
    with hub_errors(repo, revision):
        info = HfApi(endpoint=endpoint()).model_info(
            repo, revision=revision, files_metadata=True, timeout=TIMEOUT
        )
        files = info.siblings or []
        sizes = {entry.rfilename: int(entry.size or 0) for entry in files}
        hashes = {entry.rfilename: str(entry.lfs.sha256) for entry in files if entry.lfs}
        return Listing(repo, str(info.sha), sizes, revision or "main", hashes)
