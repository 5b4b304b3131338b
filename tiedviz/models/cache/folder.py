"""Where fetched and converted models are kept, and how an entry comes into being: whole.

An entry is a folder. It is filled under a temporary name, under a lock that other processes
respect, and renamed when it is complete: a process killed half way leaves nothing that looks
finished.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tiedviz.words.refusals.opening import CacheNotWritable, TooLittleDisk

if TYPE_CHECKING:  # a verdict from headers asks for a path, and takes less time than these
    from filelock import FileLock

    from tiedviz.words.shelf import ShelfModel

# How often whoever waits for another process gets to look up (and to stop), in seconds.
_BEAT = 0.3


def cache_root() -> Path:
    """`TIEDVIZ_CACHE` where it is set, else the platform's cache folder. Not created here."""
    chosen = os.environ.get("TIEDVIZ_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("tiedviz"))


def entry(*parts: str) -> Path:
    """The folder of one cache entry, whether or not it exists yet."""
    return cache_root().joinpath(*parts)


def shelf_file(model: ShelfModel) -> Path:
    """Where a shelf model's `.gguf` file lies once it has been fetched."""
    return entry("shelf", f"{model.name}-{model.sha256[:12]}", model.file_name)


@contextmanager
def made_once(
    folder: Path, while_waiting: Callable[[], None] = lambda: None
) -> Iterator[Path | None]:
    """Make a cache entry exactly once.

    Yields a temporary folder to fill, which becomes `folder` when the block ends without an error;
    or None where another process made it first.

    Args:
        folder: the entry.
        while_waiting: called a few times a second while another process makes it; may raise.

    Raises:
        CacheNotWritable: the cache folder cannot be written to.
    """
    import shutil

    from filelock import FileLock

    with _writing():
        folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.with_name(folder.name + ".lock"))
    while not _acquired(lock):
        while_waiting()
    try:
        if folder.is_dir():
            yield None
            return
        unfinished = folder.with_name(folder.name + ".part")
        with _writing():
            shutil.rmtree(unfinished, ignore_errors=True)  # left by a process that was killed
            unfinished.mkdir()
        try:
            yield unfinished
            with _writing():
                unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    finally:
        lock.release()


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CacheNotWritable(error.strerror or str(error)) from error


def _acquired(lock: FileLock) -> bool:
    from filelock import Timeout

    try:
        lock.acquire(timeout=_BEAT)
    except Timeout:
        return False
    except OSError as error:
        raise CacheNotWritable(error.strerror or str(error)) from error
    return True


def require_disk(title: str, needed: int, folder: Path | None = None) -> None:
    """Nothing, or a refusal where the disk of a cache folder has less than `needed` bytes free.

    Args:
        title: what is to be kept, for the refusal.
        needed: bytes.
        folder: which cache, perhaps not made yet; by default the app's own.

    Raises:
        TooLittleDisk: with both numbers.
    """
    import shutil

    folder = folder or cache_root()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(nearest).free
    if free < needed:
        raise TooLittleDisk(title, needed, free)
