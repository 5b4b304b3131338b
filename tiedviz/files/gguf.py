"""What does a GGUF file hold? Its header, without building a list of its vocabulary."""

from __future__ import annotations

import math

from tiedviz.files.ggml_types import GGML_TYPES
from tiedviz.files.gguf_walk import Walk
from tiedviz.files.header import MAX_SIZE, Header, StoredTensor
from tiedviz.files.opening import (
    SNIFFED,
    ReadAt,
    StrPath,
    name_of,
    open_weights,
    refuse_other_content,
)
from tiedviz.words.refusals.file import DamagedFile, HostileHeader, TruncatedFile, UnreadableGguf

MAX_GGML_DIMENSIONS = 4
DEFAULT_ALIGNMENT = 32
_SMALLEST_PAIR = 8 + 4 + 1  # length of the key, kind of the value, one byte
_SMALLEST_TENSOR = 8 + 4 + 4 + 8  # length of the name, dimensions, type, offset


def read_gguf_file(path: StrPath) -> Header:
    """The header of a local file; see `read_gguf`."""
    with open_weights(path) as (read, size):
        return read_gguf(read, size, name_of(path))


def read_gguf(read: ReadAt, size: int, name: str) -> Header:
    """The header of a little-endian GGUF file, version 2 or 3.

    Numbers, truth values, strings and arrays of up to 64 values are kept in `metadata`; of longer
    arrays a `LongArray` with the length. Shapes are given rows first, V×d.

    Args:
        read: gives `length` bytes from `offset`; asked for at most twice the header, or 1 MiB.
        size: of the whole file, in bytes.
        name: of the file, for the tensors and for what is said.

    Raises:
        FileRefusal: one of its kinds, where the file is cut, damaged, hostile or another thing.
    """
    walk = Walk(read, size, name)
    _check_start(walk, size)
    tensor_count, pair_count = walk.count(_SMALLEST_TENSOR), walk.count(_SMALLEST_PAIR)
    metadata = {}
    for _ in range(pair_count):
        key = walk.text()
        metadata[key] = walk.value(walk.u32())
    entries = [_entry(walk) for _ in range(tensor_count)]
    start = _align(walk.at, metadata.get("general.alignment", DEFAULT_ALIGNMENT), name)
    tensors = tuple(_tensor(entry, start, name) for entry in entries)
    _check_tensors(tensors, size, name)
    return Header("gguf", tensors, metadata)


def _check_start(walk: Walk, size: int) -> None:
    first = walk.first(SNIFFED)
    if not first.startswith(b"GGUF"):
        refuse_other_content(first, size, walk.name, "GGUF")
        raise DamagedFile(walk.name, "it does not begin with the letters GGUF")
    walk.u32()
    version = walk.u32()
    if version and not version & 0xFFFF:
        raise UnreadableGguf(walk.name, "its bytes in big-endian order")
    if version not in (2, 3):
        raise UnreadableGguf(walk.name, f"version {version:,}; versions 2 and 3 can be read")


def _entry(walk: Walk) -> tuple[str, tuple[int, ...], int, int]:
    """Name, shape, number of the type, and offset from the start of the data."""
    name = walk.text()
    dimensions = walk.u32()
    if dimensions > MAX_GGML_DIMENSIONS:
        raise HostileHeader(walk.name, f"a tensor of {dimensions:,} dimensions")
    shape = tuple(walk.u64() for _ in range(dimensions))
    return name, shape[::-1], walk.u32(), walk.u64()


def _align(at: int, alignment: object, name: str) -> int:
    if type(alignment) is not int or alignment <= 0 or alignment & (alignment - 1):
        raise DamagedFile(name, "its alignment is not a power of two")
    return at + -at % alignment


def _tensor(entry: tuple[str, tuple[int, ...], int, int], start: int, file: str) -> StoredTensor:
    name, shape, number, offset = entry
    kind = GGML_TYPES.get(number)
    if kind is None:
        raise UnreadableGguf(file, f"a tensor of type {number:,}, which is not known here")
    numbers = math.prod(shape)
    if numbers >= MAX_SIZE:
        raise HostileHeader(file, "a tensor whose size is not a size")
    if shape and shape[-1] % kind.block:
        raise DamagedFile(file, f"a row of a tensor is not made of whole {kind.name} blocks")
    nbytes = numbers // kind.block * kind.block_bytes
    return StoredTensor(name, shape, kind.name, nbytes, file, start + offset)


def _check_tensors(tensors: tuple[StoredTensor, ...], size: int, name: str) -> None:
    end = max(((tensor.offset or 0) + tensor.nbytes for tensor in tensors), default=0)
    if end > size:
        raise TruncatedFile(name, end, size)
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise DamagedFile(name, "two tensors have the same name")
