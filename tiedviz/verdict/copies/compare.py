"""Two stored matrices compared: the same bytes, or how many numbers differ and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiedviz.verdict.copies.difference import Difference
from tiedviz.verdict.copies.place import Overheard, Place, Progress, quiet, same_bytes
from tiedviz.verdict.copies.rows import is_readable, memory_of_a_row, open_rows
from tiedviz.verdict.witnesses import Comparison
from tiedviz.words.refusals.file import printable

if TYPE_CHECKING:
    from tiedviz.verdict.copies.rows import Rows

_BLOCK = 4 * 1024 * 1024  # bytes of each matrix in a block; some ten times that is in use
_LARGEST_ROW = 64 * 1024 * 1024
_LARGEST_TURNED = 1024 * 1024 * 1024

SAME = Comparison(True, 0, 0, 0.0, 0.0, 1.0)


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
