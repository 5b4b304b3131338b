"""What does a GGUF file hold? Its header, by a bounded walk that builds no list of its tokens."""

from __future__ import annotations

import math
import re
import struct
from typing import NamedTuple

from tiedviz.files.access import (
    SNIFFED,
    ReadAt,
    read_exactly,
    refuse_other_content,
)
from tiedviz.files.config import Description, Dimensions, whole_number
from tiedviz.files.header import MAX_SIZE, Header, StoredTensor
from tiedviz.words.refusals.file import FileRefusal


class GgmlType(NamedTuple):
    """One way of storing numbers in a GGUF file: in blocks that share a scale."""

    name: str
    block: int
    """Numbers in a block."""
    block_bytes: int


GGML_TYPES = {
    0: GgmlType("F32", 1, 4),
    1: GgmlType("F16", 1, 2),
    2: GgmlType("Q4_0", 32, 18),
    3: GgmlType("Q4_1", 32, 20),
    6: GgmlType("Q5_0", 32, 22),
    7: GgmlType("Q5_1", 32, 24),
    8: GgmlType("Q8_0", 32, 34),
    9: GgmlType("Q8_1", 32, 40),
    10: GgmlType("Q2_K", 256, 84),
    11: GgmlType("Q3_K", 256, 110),
    12: GgmlType("Q4_K", 256, 144),
    13: GgmlType("Q5_K", 256, 176),
    14: GgmlType("Q6_K", 256, 210),
    15: GgmlType("Q8_K", 256, 292),
    16: GgmlType("IQ2_XXS", 256, 66),
    17: GgmlType("IQ2_XS", 256, 74),
    18: GgmlType("IQ3_XXS", 256, 98),
    19: GgmlType("IQ1_S", 256, 50),
    20: GgmlType("IQ4_NL", 32, 18),
    21: GgmlType("IQ3_S", 256, 110),
    22: GgmlType("IQ2_S", 256, 82),
    23: GgmlType("IQ4_XS", 256, 136),
    24: GgmlType("I8", 1, 1),
    25: GgmlType("I16", 1, 2),
    26: GgmlType("I32", 1, 4),
    27: GgmlType("I64", 1, 8),
    28: GgmlType("F64", 1, 8),
    29: GgmlType("IQ1_M", 256, 56),
    30: GgmlType("BF16", 1, 2),
    34: GgmlType("TQ1_0", 256, 54),
    35: GgmlType("TQ2_0", 256, 66),
    39: GgmlType("MXFP4", 32, 17),
    40: GgmlType("NVFP4", 64, 36),
    41: GgmlType("Q1_0", 128, 18),
}


HEADER_LIMIT = 100_000_000  # bytes; 262,144 tokens with their scores and kinds take 6 million
FIRST_READ = 1024 * 1024
KEPT = 64  # longer arrays are token lists and the like: only their length is kept
MAX_NESTING = 4

_STRING, _ARRAY = 8, 9
_SCALARS = {
    kind: struct.Struct("<" + code)
    for kind, code in zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True)
}
_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")


class LongArray(NamedTuple):
    """An array that was passed over."""

    length: int


class GgufCursor:
    """A place in a GGUF header that only moves forward."""

    def __init__(self, read: ReadAt, size: int, name: str) -> None:
        self.name = name
        self.at = 0
        self._read = read
        self._size = size
        self._seen = b""  # the file's first bytes, as far as they were needed

    def first(self, length: int) -> bytes:
        """The file's first bytes, up to `length` of them."""
        self._see(min(length, self._size))
        return self._seen[:length]

    def u32(self) -> int:
        """The next four bytes as a number."""
        return int(self._scalar(_U32))

    def u64(self) -> int:
        """The next eight bytes as a number."""
        return int(self._scalar(_U64))

    def count(self, smallest: int) -> int:
        """How many things follow, each of at least `smallest` bytes.

        Raises:
            FileRefusal: so many do not fit in the file.
            FileRefusal: so many would not be read.
        """
        count = self.u64()
        self._check(self.at + count * smallest)
        return count

    def text(self) -> str:
        """The next string; bytes that are not UTF-8 are written as escapes."""
        start = self.at + 8
        self.at = start + self.count(1)
        self._see(self.at)
        return self._seen[start : self.at].decode(errors="backslashreplace")

    def value(self, kind: int, nesting: int = 0) -> object:
        """The next value: a number, a truth value, a string, a tuple, or a `LongArray`."""
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self._array(nesting + 1)
        return self._scalar(self._struct(kind))

    def _array(self, nesting: int) -> object:
        kind = self.u32()
        if nesting > MAX_NESTING:
            raise FileRefusal.damaged(self.name, "arrays in arrays without end")
        if kind in _SCALARS:
            return self._numbers(_SCALARS[kind])
        length = self.count(8)
        if kind == _STRING and length > KEPT:
            self._pass_strings(length)
            return LongArray(length)
        values = tuple(self.value(kind, nesting) for _ in range(length))
        return values if length <= KEPT else LongArray(length)

    def _numbers(self, form: struct.Struct) -> object:
        length = self.count(form.size)
        if length <= KEPT:
            return tuple(self._scalar(form) for _ in range(length))
        self.at += length * form.size
        return LongArray(length)

    def _pass_strings(self, left: int) -> None:
        # The one loop that runs once per token of the vocabulary, hence the local names.
        unpack, at = _U64.unpack_from, self.at
        while left:
            seen = self._seen
            try:
                for remaining in range(left, 0, -1):  # noqa: B007 - twice as fast as `left -= 1`
                    at += 8 + unpack(seen, at)[0]
                left = 0
            except (struct.error, OverflowError):
                left = remaining
                self._see(at + 8)
        self._check(at)
        self.at = at

    def _scalar(self, form: struct.Struct) -> float:
        start = self.at
        self.at += form.size
        self._see(self.at)
        value: float = form.unpack_from(self._seen, start)[0]
        return value

    def _struct(self, kind: int) -> struct.Struct:
        if kind not in _SCALARS:
            raise FileRefusal.damaged(self.name, f"a value of the unknown kind {kind}")
        return _SCALARS[kind]

    def _check(self, end: int) -> None:
        if end > self._size:
            raise FileRefusal.truncated(self.name, end, self._size)
        if end > HEADER_LIMIT:
            raise FileRefusal.too_large(self.name, end, HEADER_LIMIT)

    def _see(self, end: int) -> None:
        if end <= len(self._seen):
            return
        self._check(end)
        # Twice as much each time, so that the bytes are copied about once in all.
        until = min(max(end, 2 * len(self._seen), FIRST_READ), self._size, HEADER_LIMIT)
        start = len(self._seen)
        self._seen += read_exactly(self._read, start, until - start, self.name, self._size)


PART_OF_GGUF = r"(?P<stem>.+)-\d{5}-of-(?P<parts>\d{5})\.gguf"
MAX_GGML_DIMENSIONS = 4
DEFAULT_ALIGNMENT = 32
_SMALLEST_PAIR = 8 + 4 + 1  # length of the key, kind of the value, one byte
_SMALLEST_TENSOR = 8 + 4 + 4 + 8  # length of the name, dimensions, type, offset


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
    cursor = GgufCursor(read, size, name)
    _check_start(cursor, size)
    tensor_count, pair_count = cursor.count(_SMALLEST_TENSOR), cursor.count(_SMALLEST_PAIR)
    metadata = {}
    for _ in range(pair_count):
        key = cursor.text()
        metadata[key] = cursor.value(cursor.u32())
    entries = [_entry(cursor) for _ in range(tensor_count)]
    start = _align(cursor.at, metadata.get("general.alignment", DEFAULT_ALIGNMENT), name)
    tensors = tuple(_tensor(entry, start, name) for entry in entries)
    _check_tensors(tensors, size, name)
    return Header("gguf", tensors, metadata)


def _check_start(cursor: GgufCursor, size: int) -> None:
    first = cursor.first(SNIFFED)
    if not first.startswith(b"GGUF"):
        refuse_other_content(first, size, cursor.name, "GGUF")
        raise FileRefusal.damaged(cursor.name, "it does not begin with the letters GGUF")
    cursor.u32()
    version = cursor.u32()
    if version and not version & 0xFFFF:
        raise FileRefusal.unreadable_gguf(cursor.name, "its bytes in big-endian order")
    if version not in (2, 3):
        raise FileRefusal.unreadable_gguf(
            cursor.name, f"version {version:,}; versions 2 and 3 can be read"
        )


def _entry(cursor: GgufCursor) -> tuple[str, tuple[int, ...], int, int]:
    """Name, shape, number of the type, and offset from the start of the data."""
    name = cursor.text()
    dimensions = cursor.u32()
    if dimensions > MAX_GGML_DIMENSIONS:
        raise FileRefusal.hostile(cursor.name, f"a tensor of {dimensions:,} dimensions")
    shape = tuple(cursor.u64() for _ in range(dimensions))
    return name, shape[::-1], cursor.u32(), cursor.u64()


def _align(at: int, alignment: object, name: str) -> int:
    if type(alignment) is not int or alignment <= 0 or alignment & (alignment - 1):
        raise FileRefusal.damaged(name, "its alignment is not a power of two")
    return at + -at % alignment


def _tensor(entry: tuple[str, tuple[int, ...], int, int], start: int, file: str) -> StoredTensor:
    name, shape, number, offset = entry
    kind = GGML_TYPES.get(number)
    if kind is None:
        raise FileRefusal.unreadable_gguf(
            file, f"a tensor of type {number:,}, which is not known here"
        )
    numbers = math.prod(shape)
    if numbers >= MAX_SIZE:
        raise FileRefusal.hostile(file, "a tensor whose size is not a size")
    if shape and shape[-1] % kind.block:
        raise FileRefusal.damaged(
            file, f"a row of a tensor is not made of whole {kind.name} blocks"
        )
    nbytes = numbers // kind.block * kind.block_bytes
    return StoredTensor(name, shape, kind.name, nbytes, file, start + offset)


def _check_tensors(tensors: tuple[StoredTensor, ...], size: int, name: str) -> None:
    end = max(((tensor.offset or 0) + tensor.nbytes for tensor in tensors), default=0)
    if end > size:
        raise FileRefusal.truncated(name, end, size)
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise FileRefusal.damaged(name, "two tensors have the same name")


def gguf_parts(header: Header, name: str) -> list[str]:
    """Names of all files of a split model, from the header and the name of one; else none.

    Raises:
        FileRefusal: the name does not say which part of how many it is.
    """
    parts = header.metadata.get("split.count")
    if type(parts) is not int or parts < 2:
        return []
    found = re.fullmatch(PART_OF_GGUF, name)
    if found is None or int(found["parts"]) != parts:
        raise FileRefusal.missing_shard(name, [f"the other {parts - 1}"], parts)
    return [f"{found['stem']}-{i:05}-of-{found['parts']}.gguf" for i in range(1, parts + 1)]


def gguf_description(header: Header) -> Description:
    """What the key-value pairs say of the model."""
    values = header.metadata
    model = values.get("general.architecture")
    tokens = values.get("tokenizer.ggml.tokens")
    listed = tokens.length if isinstance(tokens, LongArray) else None
    width = whole_number(values.get(f"{model}.embedding_length"))
    sizes = Dimensions(
        vocab_size=whole_number(values.get(f"{model}.vocab_size")) or listed,
        d_model=width,
        embedding_width=width,
        layers=whole_number(values.get(f"{model}.block_count")),
        positions=whole_number(values.get(f"{model}.context_length")),
    )
    return Description(model if isinstance(model, str) and model else None, sizes)
