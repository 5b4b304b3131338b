"""Where do the numbers of a stored tensor lie, and do two of them hold the same bytes?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tiedviz.files.header import StoredTensor
from tiedviz.files.opening import open_weights, read_exactly

Progress = Callable[[int, int], None]
"""`progress(done, total)` in bytes. It may raise to stop the work."""

CHUNK = 4 * 1024 * 1024  # bytes


def quiet(done: int, total: int) -> None:
    """Progress for nobody."""


class Place(NamedTuple):
    """A stored tensor and the folder its file lies in."""

    tensor: StoredTensor
    folder: Path

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / self.tensor.file

    @property
    def is_plain(self) -> bool:
        """Whether its numbers are one run of bytes, row after row."""
        return self.tensor.offset is not None


def same_bytes(one: Place, other: Place, progress: Progress = quiet) -> bool:
    """Whether two plain tensors hold the same bytes. Reads until the first difference.

    Raises:
        FileRefusal: a file cannot be read to the end of the tensor.
    """
    total = one.tensor.nbytes
    if total != other.tensor.nbytes:
        return False
    with open_weights(one.path) as (read, size), open_weights(other.path) as (read_other, its_size):
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
