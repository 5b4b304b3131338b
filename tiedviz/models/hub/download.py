"""Downloading what opening a repository takes, into the cache that transformers shares."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from huggingface_hub import get_hf_file_metadata, hf_hub_url

from tiedviz.models.cache.folder import free_without, locked, require_disk, writing
from tiedviz.models.hub.address import TIMEOUT, cache_folder, endpoint, patience
from tiedviz.models.hub.asking import hub_errors
from tiedviz.models.hub.cached import blob, in_snapshot, link, lock_of, remember_revision
from tiedviz.models.hub.layout import CONFIG, Listing
from tiedviz.models.hub.stream import StoodStill, blocks
from tiedviz.models.progress import Report, Step
from tiedviz.words.numbers import megabytes
from tiedviz.words.refusals.hub import HubStoodStill
from tiedviz.words.refusals.opening import DiskFull, WrongHash

_BLOCK = 8 << 20
# For how many seconds nothing may come until that is said.
_SILENCE = 3.0


def download(listing: Listing, report: Report) -> Path:
    """The folder that holds the repository's files, downloaded where they are not there yet.

    What came of a file before its download was given up, cancelled or killed is kept beside the
    finished ones, and the next download goes on from there.

    Raises:
        HubRefusal: the Hub fails, the connection breaks, or nothing comes over it any more.
        WrongHash: other weights came than were published; they are not kept.
        TooLittleDisk, DiskFull, CacheNotWritable: there is nowhere to put them.
    """
    needed = listing.needed
    missing = [name for name in needed if not in_snapshot(listing, name).exists()]
    parts = sum(_part(listing, name).stat().st_size for name in missing if _begun(listing, name))
    require_disk(listing.repo, max(0, listing.size_of(missing) - parts), cache_folder())
    progress = _Fetched(listing.size_of(needed), report)
    for name in needed:
        path = _one(listing, name, progress)
        if name in listing.hashes:
            _check(path, listing.hashes[name], report)
        progress.whole_file(listing.sizes[name])
    remember_revision(listing)
    return in_snapshot(listing, CONFIG).parent


def _one(listing: Listing, name: str, progress: _Fetched) -> Path:
    """The file, found or fetched; nobody else fetches it at the same time."""
    path = in_snapshot(listing, name)
    if path.exists():
        return path
    etag = _etag(listing, name)
    content = blob(listing.repo, etag)
    with locked(lock_of(listing.repo, etag), progress.waiting):
        if not content.exists():
            with writing():
                content.parent.mkdir(parents=True, exist_ok=True)
            part = content.with_name(f"{etag}.incomplete")
            _fetch(listing, name, part, progress)
            with writing():
                part.replace(content)
        with writing():
            link(content, path)
    return path


def _etag(listing: Listing, name: str) -> str:
    """Under what the Hub's client keeps the content: the published hash, else what the Hub says."""
    if name in listing.hashes:
        return listing.hashes[name]
    with hub_errors(listing.repo, listing.commit, name):
        etag = str(get_hf_file_metadata(_url(listing, name), timeout=TIMEOUT).etag or "")
        if not re.fullmatch(r"[\w-]{8,128}", etag):
            raise ValueError("no tag that could name a file")
        return etag


def _url(listing: Listing, name: str) -> str:
    return hf_hub_url(listing.repo, name, revision=listing.commit, endpoint=endpoint())


def _part(listing: Listing, name: str) -> Path:
    """What came of a large file so far; of small ones it is not worth asking."""
    return blob(listing.repo, f"{listing.hashes.get(name, 'none')}.incomplete")


def _begun(listing: Listing, name: str) -> bool:
    return _part(listing, name).is_file()


def _fetch(listing: Listing, name: str, part: Path, progress: _Fetched) -> None:
    """Append to `part` what it lacks of the file."""
    size = listing.sizes[name]
    with writing():
        part.touch()
        start = part.stat().st_size
        if start > size:
            part.write_bytes(b"")
            start = 0
    progress.more(start)
    try:
        with hub_errors(listing.repo, listing.commit, name):
            for block in blocks(_url(listing, name), start, size, progress.silent):
                with writing(), part.open("ab") as file:
                    file.write(block)
                progress.more(len(block))
    except StoodStill as still:
        kept = f"{megabytes(part.stat().st_size)} of {megabytes(size)}"
        raise HubStoodStill(listing.repo, name, still.seconds, kept) from still
    except DiskFull as full:
        free = free_without(part)
        part.unlink()  # what is kept there would keep the disk full
        raise DiskFull(full.said, size, free) from full


def _check(path: Path, expected: str, report: Report) -> None:
    """Nothing, or a refusal; a file that is not what was published is taken out of the cache.

    Sizes alone say little: whoever is handed other weights on the way would see their numbers
    under this model's name.
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


class _Fetched:
    """Bytes that came so far over all files."""

    def __init__(self, total: int, report: Report) -> None:
        self._total, self._report = total, report
        self._finished = self._current = 0
        self._tell("Fetching")

    def more(self, size: int) -> None:
        """Some bytes of the current file came, or were there."""
        self._current += size
        self._tell("Fetching")

    def whole_file(self, size: int) -> None:
        """The current file is complete, downloaded or found in the cache."""
        self._finished, self._current = self._finished + size, 0
        self._tell("Fetching")

    def silent(self, seconds: float) -> None:
        """Nothing has come for so long."""
        if seconds < _SILENCE:
            return self._tell("Fetching")
        self._tell(f"Nothing came for {seconds:.0f} s (given up after {patience():.0f} s)")

    def waiting(self) -> None:
        """Somebody else fetches the current file."""
        self._tell("Waiting for another process that fetches it")

    def _tell(self, stage: str) -> None:
        done = min(self._finished + self._current, self._total)
        self._report(Step(stage, done, self._total, "bytes"))
