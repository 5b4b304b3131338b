"""Two stored matrices compared: the same bytes, or how many numbers differ and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tiedviz.files.access import ReadAt, StrPath, open_weights, read_exactly
from tiedviz.files.header import BITS, StoredTensor
from tiedviz.verdict.difference import (
    EIGHT_BIT_FLOATS,
    FRACTION_BITS,
    GRIDS,
    Difference,
    torch_type,
)
from tiedviz.verdict.witnesses import Comparison
from tiedviz.words.refusals.file import printable

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]
    Rows = Callable[[int, int], Array]

_BLOCK = 4 * 1024 * 1024  # bytes of each matrix in a block; some ten times that is in use
_LARGEST_ROW = 64 * 1024 * 1024
_LARGEST_TURNED = 1024 * 1024 * 1024

SAME = Comparison(True, 0, 0, 0.0, 0.0, 1.0)
_NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
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
    def path(self) -> Path:
        """The file."""
        return Path(self.folder, self.tensor.file)

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


def compare(embedding: Place, head: Place, progress: Progress = quiet) -> Comparison:
    """E against W, as stored. Equal bytes are told with the standard library alone.

    Args:
        embedding: E, which the relative error is relative to.
        head: W, in the same or another file; it may lie the other way round (d×V).
        progress: told of the bytes of E that are done.

    Raises:
        FileRefusal: the files end too early.
    """
    one, other = embedding.tensor, head.tensor
    alike = one.shape == other.shape and one.dtype == other.dtype
    plain = embedding.is_plain and head.is_plain
    if embedding.remote is not None and head.remote is not None:
        return _in_one_reading(embedding, head, alike, progress)
    if alike and plain and same_bytes(embedding, head, progress):
        return SAME
    turned = _is_turned(one.shape, other.shape)
    if one.shape[1] != other.shape[1] and not turned:
        return _of_other_shapes(one.shape, other.shape)
    found = _numbers(embedding, head, turned, progress)
    rearranged = one.dtype == other.dtype and (turned or (alike and not plain))
    return SAME if rearranged and not found.differing_elements else found


def _in_one_reading(embedding: Place, head: Place, alike: bool, progress: Progress) -> Comparison:
    """Bytes and numbers together, where every byte has to come over a network."""
    assert embedding.remote is not None and head.remote is not None
    one, other = embedding.tensor, head.tensor
    turned = _is_turned(one.shape, other.shape)
    if one.shape[1] != other.shape[1] and not turned:
        return _of_other_shapes(one.shape, other.shape)
    mine, its = Overheard(embedding.remote), Overheard(head.remote)
    equal = alike

    def tell(done: int, total: int) -> None:
        nonlocal equal
        equal = equal and mine.last == its.last
        progress(done, total)

    places = embedding._replace(remote=mine), head._replace(remote=its)
    found = _numbers(*places, turned, tell)
    turned_twin = turned and one.dtype == other.dtype and not found.differing_elements
    return SAME if equal or turned_twin else found


def cannot_compare(embedding: Place, head: Place) -> str:
    """Why these two cannot be compared, as a clause; empty where they can."""
    for place in (embedding, head):
        name, dtype = printable(place.tensor.name), place.tensor.dtype
        if not is_readable(dtype):
            return f"{name} is kept as {dtype}, which only the library that wrote it can read"
        if memory_of_a_row(place) > _LARGEST_ROW:
            return f"one row of {name} would take more than 64 MB"
    turned = _is_turned(embedding.tensor.shape, head.tensor.shape)
    if turned and 4 * head.tensor.numbers > _LARGEST_TURNED:
        return f"{printable(head.tensor.name)} is stored the other way round, and is too large"
    return ""


def _is_turned(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one == other[::-1] and one[0] != one[1]


def _of_other_shapes(one: tuple[int, ...], other: tuple[int, ...]) -> Comparison:
    height = max(one[0], other[0])
    return Comparison(
        False, max(one[0] * one[1], other[0] * other[1]), height, None, None, None, far_rows=height
    )


def _numbers(embedding: Place, head: Place, turned: bool, progress: Progress) -> Comparison:
    one, other = embedding.tensor, head.tensor
    height, width = one.shape
    both = height if turned else min(height, other.shape[0])
    block = max(1, _BLOCK // memory_of_a_row(embedding))
    found = Difference((one.dtype, other.dtype))
    with open_rows(embedding) as rows, open_rows(head) as its_rows:
        its_rows = _turn(its_rows, width) if turned else its_rows
        for start in range(0, both, block):
            stop = min(start + block, both)
            found.add(rows(start, stop), its_rows(start, stop))
            progress(one.nbytes * stop // both, one.nbytes)
    extra = 0 if turned else max(height, other.shape[0]) - both
    return found.comparison(extra, width)


def _turn(rows: Rows, width: int) -> Rows:
    """Rows of a matrix that is stored the other way round: it is read once, whole."""
    whole = rows(0, width).T
    return lambda start, stop: whole[start:stop]


def is_readable(dtype: str) -> bool:
    """Whether numbers of this type can be turned into floats."""
    return dtype in FRACTION_BITS or dtype in GRIDS


@contextmanager
def open_rows(place: Place) -> Iterator[Rows]:
    """`rows(start, stop)` of the matrix: float64 for F64, else float32."""
    if not place.is_plain:
        yield _unpickled(place)
        return
    with place.open() as (read, size):
        yield _plain(place, read, size)


def _plain(place: Place, read: ReadAt, size: int) -> Rows:
    tensor, offset = place.tensor, place.tensor.offset or 0
    height, width = tensor.shape
    row_bytes = tensor.nbytes // max(height, 1)

    def rows(start: int, stop: int) -> Array:
        length = (stop - start) * row_bytes
        raw = read_exactly(read, offset + start * row_bytes, length, tensor.file, size)
        return _floats(raw, tensor.dtype, stop - start, width)

    return rows


def _floats(raw: bytes, dtype: str, height: int, width: int) -> Array:
    import numpy as np

    if dtype in _NUMPY:
        numbers = np.frombuffer(raw, _NUMPY[dtype])
        numbers = numbers if dtype == "F64" else numbers.astype(np.float32)
    elif dtype == "BF16":
        numbers = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
    elif dtype in EIGHT_BIT_FLOATS:
        import torch

        stored = torch.frombuffer(bytearray(raw), dtype=torch_type(dtype))
        numbers = stored.float().numpy()
    else:
        from gguf import GGMLQuantizationType, quants

        blocks = np.frombuffer(raw, np.uint8).reshape(height, -1)
        numbers = quants.dequantize(blocks, GGMLQuantizationType[dtype])
    return numbers.reshape(height, width)


def _unpickled(place: Place) -> Rows:
    """Of a tensor in a .bin whose numbers do not lie row after row."""
    import torch

    state = torch.load(place.path, map_location="cpu", weights_only=True, mmap=True)
    tensor = _named(state, place.tensor.name)

    def rows(start: int, stop: int) -> Array:
        block = tensor[start:stop].detach()
        return (block if block.dtype == torch.float64 else block.float()).numpy()

    return rows


def _named(state: Any, name: str) -> Any:
    """The tensor called `name`, whose dots may be levels of dicts or part of a key."""
    if name in state:
        return state[name]
    for key, part in state.items():
        if isinstance(part, dict) and name.startswith(f"{key}."):
            return _named(part, name.removeprefix(f"{key}."))
    raise KeyError(name)


def memory_of_a_row(place: Place) -> int:
    """Bytes that one row takes as it is read."""
    bits = BITS.get(place.tensor.dtype, 32)
    return max(place.tensor.shape[1], 1) * max(bits // 8, 4)
