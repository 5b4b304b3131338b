"""Where fetched and converted models are kept, and how an entry comes into being: whole.

An entry is a folder. It is filled under a temporary name, under a lock that other processes
respect, and renamed when it is complete: a process killed half way leaves nothing that looks
finished.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from filelock import FileLock

from tiedviz.words.opening_refusals import CacheNotWritable, TooLittleDisk


def cache_root() -> Path:
    """`TIEDVIZ_CACHE` where it is set, else the platform's cache folder. Not created here."""
    chosen = os.environ.get("TIEDVIZ_CACHE")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("tiedviz"))


def entry(*parts: str) -> Path:
    """The folder of one cache entry, whether or not it exists yet."""
    return cache_root().joinpath(*parts)


@contextmanager
def made_once(folder: Path) -> Iterator[Path | None]:
    """Make a cache entry exactly once.

    Yields a temporary folder to fill, which becomes `folder` when the block ends without an error;
    or None where another process made it first.

    Raises:
        CacheNotWritable: the cache folder cannot be written to.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder.with_name(folder.name + ".lock"))
        lock.acquire()
    except OSError as error:
        raise CacheNotWritable(error.strerror or str(error)) from error
    try:
        if folder.is_dir():
            yield None
            return
        unfinished = folder.with_name(folder.name + ".part")
        shutil.rmtree(unfinished, ignore_errors=True)  # left by a process that was killed
        unfinished.mkdir()
        try:
            yield unfinished
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    finally:
        lock.release()


def require_disk(title: str, needed: int) -> None:
    """Nothing, or a refusal where the cache folder's disk has less than `needed` bytes free.

    Raises:
        TooLittleDisk: with both numbers.
    """
    nearest = next(path for path in (cache_root(), *cache_root().parents) if path.exists())
    free = shutil.disk_usage(nearest).free
    if free < needed:
        raise TooLittleDisk(title, needed, free)
