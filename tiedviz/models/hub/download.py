"""Downloading what opening a repository takes, into the cache that transformers shares."""

from __future__ import annotations

import hashlib
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from huggingface_hub import constants, hf_hub_download
from tqdm.auto import tqdm

from tiedviz.models.cache.folder import locked, require_disk, writing
from tiedviz.models.fetched import Fetched
from tiedviz.models.hub.address import TIMEOUT, cache_folder, endpoint
from tiedviz.models.hub.asking import hub_errors
from tiedviz.models.hub.cached import lock_of, remember_revision
from tiedviz.models.hub.layout import CONFIG, Listing
from tiedviz.models.hub.watching import StoodStill, watched
from tiedviz.models.progress import Report, Step
from tiedviz.words.refusals.hub import HubStoodStill
from tiedviz.words.refusals.opening import DiskFull, WrongHash

_BLOCK = 8 << 20
# The client tells of bytes by the chunk. Its own, of 10 MB, would take a slow line longer than
# anybody waits for a sign of life.
constants.DOWNLOAD_CHUNK_SIZE = 1 << 18


def download(listing: Listing, report: Report) -> Path:
    """The folder that holds the repository's files, downloaded where they are not there yet.

    Raises:
        HubRefusal: the Hub fails, or the connection breaks.
        WrongHash: other weights came than were published; they are not kept.
        TooLittleDisk, DiskFull, CacheNotWritable: there is nowhere to put them.
    """
    needed = listing.needed
    size = listing.size_of(needed)
    require_disk(listing.repo, size, cache_folder())
    waiting = Step("Waiting for another process that fetches it")
    with locked(lock_of(listing.repo), lambda: report(waiting)):
        progress = Fetched(size, report)
        paths = {}
        for name in needed:
            paths[name] = _one(listing, name, progress)
            if name in listing.hashes:
                _check(paths[name], listing.hashes[name], report)
            progress.whole_file(listing.sizes[name])
        remember_revision(listing)
    return paths[CONFIG].parent


def _one(listing: Listing, name: str, progress: Fetched) -> Path:
    with hub_errors(listing.repo, listing.commit, name):
        fetch = partial(
            hf_hub_download,
            listing.repo,
            name,
            revision=listing.commit,
            cache_dir=cache_folder(),
            endpoint=endpoint(),
            etag_timeout=TIMEOUT,
            tqdm_class=_bar_class(progress),
        )
        try:
            return Path(watched(fetch, progress))
        except StoodStill as still:
            raise HubStoodStill(listing.repo, name, still.seconds) from still
        except OSError as error:
            if error.errno is None:
                raise  # one of the Hub's own errors, which are OSErrors too
            try:
                with writing():
                    raise
            except DiskFull as full:
                free = shutil.disk_usage(cache_folder()).free
                raise DiskFull(full.said, listing.sizes[name], free) from full


def _check(path: Path, expected: str, report: Report) -> None:
    """Nothing, or a refusal; a file that is not what was published is taken out of the cache.

    The Hub's client compares sizes only. Whoever is handed other weights on the way would see
    their numbers under this model's name.
    """
    digest, size, done = hashlib.sha256(), path.stat().st_size, 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            done += len(block)
            report(Step("Checking", done, size, "bytes"))
    if digest.hexdigest() != expected:
        path.resolve().unlink()  # the blob; the snapshot's name of it is a link
        path.unlink(missing_ok=True)
        raise WrongHash(path.name, expected, digest.hexdigest())


def _bar_class(fetched: Fetched) -> type[tqdm]:
    """A progress bar of the client's that draws nothing and tells `fetched`."""

    class Bar(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            options["disable"] = True
            super().__init__(*args, **options)

        def update(self, n: float | None = 1) -> bool | None:
            fetched.more(int(n or 0))
            return super().update(n)

    return Bar
