"""Where do the numbers of a stored tensor lie, and do two of them hold the same bytes?"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tiedviz.files.access import ReadAt, StrPath, open_weights, read_exactly
from tiedviz.files.header import StoredTensor

Progress = Callable[[int, int], None]
"""`progress(done, total)` in bytes. It may raise to stop the work."""

CHUNK = 4 * 1024 * 1024  # bytes


def quiet(done: int, total: int) -> None:
    """Progress for nobody."""


class Place(NamedTuple):
    """A stored tensor, and the folder its file lies in or the reader that reaches it."""

    tensor: StoredTensor
    folder: StrPath
    remote: ReadAt | None = None
    """Reads its file by ranges, where that is on another machine."""
    remote_size: int = 0
    """Bytes of that file."""

    @property
    def path(self) -> str:
        """The file."""
        return os.path.join(self.folder, self.tensor.file)

    @contextmanager
    def open(self) -> Iterator[tuple[ReadAt, int]]:
        """A reader of its file, and the file's size.

        Raises:
            FileRefusal: it cannot be opened.
        """
        if self.remote is not None:
            yield self.remote, self.remote_size
            return
        with open_weights(self.path) as opened:
            yield opened

    @property
    def is_plain(self) -> bool:
        """Whether its numbers are one run of bytes, row after row."""
        return self.tensor.offset is not None


class Overheard:
    """A reader that keeps what it read last, so that its bytes can be compared too."""

    def __init__(self, read: ReadAt) -> None:
        self._read = read
        self.last = b""

    def __call__(self, offset: int, length: int) -> bytes:
        """Read, and keep."""
        self.last = self._read(offset, length)
        return self.last


def same_bytes(one: Place, other: Place, progress: Progress = quiet) -> bool:
    """Whether two plain tensors hold the same bytes. Reads until the first difference.

    Raises:
        FileRefusal: a file cannot be read to the end of the tensor.
    """
    total = one.tensor.nbytes
    if total != other.tensor.nbytes:
        return False
    with one.open() as (read, size), other.open() as (read_other, its_size):
        for start in range(0, total, CHUNK):
            length = min(CHUNK, total - start)
            mine = read_exactly(read, _at(one, start), length, one.tensor.file, size)
            theirs = read_exactly(
                read_other, _at(other, start), length, other.tensor.file, its_size
            )
            if mine != theirs:
                return False
            progress(start + length, total)
    return True


def _at(place: Place, start: int) -> int:
    assert place.tensor.offset is not None
    return place.tensor.offset + start
