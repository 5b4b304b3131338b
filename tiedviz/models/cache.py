"""Where fetched and converted models are kept, and how an entry comes into being: whole.

An entry is a folder. It is filled under a temporary name, under a lock that other processes
respect, and renamed when it is complete: a process killed half way leaves nothing that looks
finished. No two makers share a temporary name, for a converter whose parent was killed may write
on for a while.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tiedviz.words.refusals.opening import DiskFull, OpeningRefusal

if TYPE_CHECKING:
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
    folder: Path,
    while_waiting: Callable[[], None] = lambda: None,
    needed: int | None = None,
) -> Iterator[Path | None]:
    """Make a cache entry exactly once.

    Yields a temporary folder to fill, which becomes `folder` when the block ends without an error;
    or None where another process made it first.

    Args:
        folder: the entry.
        while_waiting: called a few times a second while another process makes it; may raise.
        needed: bytes that making it takes, where that is known.

    Raises:
        OpeningRefusal: the cache folder cannot be written to.
        DiskFull: its disk ran full, here or in the block; both numbers where `needed` is known.
    """
    import shutil

    with locked(folder.with_name(folder.name + ".lock"), while_waiting):
        if folder.is_dir():
            yield None
            return
        with writing():
            for left in folder.parent.glob(f"{glob.escape(folder.name)}.part*"):
                shutil.rmtree(left, ignore_errors=True)  # by a process that was killed
            unfinished = folder.with_name(f"{folder.name}.part-{secrets.token_hex(6)}")
            unfinished.mkdir()
        try:
            with _numbers(unfinished, needed), _disk_full():
                yield unfinished
            with writing():
                unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def locked(path: Path, while_waiting: Callable[[], None]) -> Iterator[None]:
    """Run a block under the lock of a file, which other processes respect.

    Args:
        path: the file; it and its folder are made where they are not there.
        while_waiting: called a few times a second while another process holds it; may raise.

    Raises:
        OpeningRefusal, DiskFull: the file cannot be made.
    """
    from filelock import FileLock

    with writing():
        path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    while not _acquired(lock):
        while_waiting()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def writing() -> Iterator[None]:
    """Run a block that writes to a cache; what the system says against it comes out as a refusal.

    Raises:
        OpeningRefusal, DiskFull: with the system's own words.
    """
    try:
        with _disk_full():
            yield
    except OSError as error:
        raise OpeningRefusal.cache_not_writable(error.strerror or str(error)) from error


@contextmanager
def _numbers(folder: Path, needed: int | None) -> Iterator[None]:
    """Say with a full disk how much was needed, and how much there was before any of it came."""
    try:
        yield
    except DiskFull as full:
        if needed is None:
            raise
        raise DiskFull(full.said, needed, _free_without(folder)) from full


def _free_without(path: Path) -> int:
    """Bytes that will be free on the disk of a file or folder once that is gone."""
    import shutil

    inside = [each for each in (path, *path.rglob("*")) if each.is_file()]
    return shutil.disk_usage(path.parent).free + sum(each.stat().st_size for each in inside)


# No room, no room for this user, a file larger than this process may write.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def _disk_full() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise DiskFull(error.strerror or str(error)) from error


def _acquired(lock: FileLock) -> bool:
    from filelock import Timeout

    with writing():
        try:
            lock.acquire(timeout=_BEAT)
        except Timeout:
            return False
    return True


def require_disk(title: str, needed: int, folder: Path | None = None) -> None:
    """Nothing, or a refusal where the disk of a cache folder has less than `needed` bytes free.

    Args:
        title: what is to be kept, for the refusal.
        needed: bytes.
        folder: which cache, perhaps not made yet; by default the app's own.

    Raises:
        OpeningRefusal: with both numbers.
    """
    import shutil

    folder = folder or cache_root()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(nearest).free
    if free < needed:
        raise OpeningRefusal.too_little_disk(title, needed, free)
