"""Bringing a repository into the cache; all that can be checked is, before the weights come."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from huggingface_hub import constants, hf_hub_download
from tqdm.auto import tqdm

from tiedviz.files.config import CONFIG
from tiedviz.models.cache import locked, require_disk, writing
from tiedviz.models.hub import (
    TIMEOUT,
    Listing,
    RemoteModel,
    cache_folder,
    cached_snapshot,
    endpoint,
    lock_of,
    patience,
    remember_revision,
)
from tiedviz.models.hub_client import hub_errors, list_repository, remote_facts
from tiedviz.models.memory import require_memory
from tiedviz.models.progress import Fetched, Report, Stage
from tiedviz.words.refusals.hub import HubRefusal, HubUnreachable
from tiedviz.words.refusals.opening import DiskFull, OpeningRefusal

_BLOCK = 8 << 20
# The client tells of bytes by the chunk. Its own, of 10 MB, would take a slow line longer than
# anybody waits for a sign of life.
constants.DOWNLOAD_CHUNK_SIZE = 1 << 18


def repository_folder(repo: str, revision: str | None, report: Report) -> Path:
    """The folder of the repository's files. The Hub is asked first: a branch may have moved.

    Where it cannot be asked (no network, or the person wants none) a complete copy in the cache
    serves.

    Raises:
        HubRefusal, FileRefusal, OpeningRefusal: nothing was downloaded in vain.
    """
    cached = cached_snapshot(repo, revision)
    report(Stage("Asking the Hub"))
    try:
        listing = list_repository(repo, revision)
    except HubUnreachable:
        if cached is None:
            raise
        return cached
    if cached is not None and cached.name == listing.commit:
        return cached
    listing.check()
    require_memory(repo, RemoteModel(listing, remote_facts(listing)).memory)
    return download(listing, report)


def download(listing: Listing, report: Report) -> Path:
    """The folder that holds the repository's files, downloaded where they are not there yet.

    Raises:
        HubRefusal: the Hub fails, or the connection breaks.
        OpeningRefusal: other weights came than were published; they are not kept.
        OpeningRefusal, DiskFull: there is nowhere to put them.
    """
    needed = listing.needed
    size = listing.size_of(needed)
    require_disk(listing.repo, size, cache_folder())
    waiting = Stage("Waiting for another process that fetches it")
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
            raise HubRefusal.stood_still(listing.repo, name, still.seconds) from still
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
            report(Stage("Checking", done, size, "bytes"))
    if digest.hexdigest() != expected:
        path.resolve().unlink()  # the blob; the snapshot's name of it is a link
        path.unlink(missing_ok=True)
        raise OpeningRefusal.wrong_hash(path.name, expected, digest.hexdigest())


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


T = TypeVar("T")

# How often whoever waits gets to look up (and to stop), in seconds.
_BEAT = 0.3
# For how many seconds nothing may come until that is said.
_SILENCE = 3.0


class StoodStill(Exception):
    """Nothing came for as long as anybody should wait.

    Attributes:
        seconds: how long that was.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def watched(work: Callable[[], T], fetched: Fetched) -> T:
    """What `work` returns, or raises. It tells `fetched` of every byte that comes.

    The client repeats its own timeout five times before anybody hears of it. Here the one who
    waits says meanwhile for how long nothing has come, may stop, and gives up once and for all. A
    client that was left ends at the next byte, or when its own patience ends.

    Raises:
        StoodStill: nothing came for `patience()` seconds.
    """
    result: Future[T] = Future()
    threading.Thread(target=_run, args=(work, result), name="fetch", daemon=True).start()
    limit = patience()
    try:
        while not wait([result], _BEAT).done:
            if (silence := fetched.silence) >= limit:
                raise StoodStill(silence)
            if silence < _SILENCE:
                fetched.tell()
            else:
                fetched.tell(f"Nothing came for {silence:.0f} s (given up after {limit:.0f} s)")
        return result.result()
    except BaseException:
        fetched.abandon()
        raise


def _run(work: Callable[[], T], result: Future[T]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:  # it is raised again where somebody waits
        result.set_exception(error)
