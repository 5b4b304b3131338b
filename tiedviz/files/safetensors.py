"""What does a safetensors file hold? Its header alone is read, whatever the size of its body."""

from __future__ import annotations

import math
import re

from tiedviz.files.access import (
    ReadAt,
    read_exactly,
    refuse_other_content,
)
from tiedviz.files.config import parse_object
from tiedviz.files.header import BITS, MAX_SIZE, Header, StoredTensor, plain_sizes
from tiedviz.words.refusals.file import BrokenJson, FileRefusal

HEADER_LIMIT = 100_000_000  # the safetensors library's own limit
FIRST_READ = 64 * 1024  # the whole header of most models, so that HTTP needs one request
_OTHER_DTYPE = r"[A-Z][A-Z0-9_]{1,23}"


def read_safetensors(read: ReadAt, size: int, name: str) -> Header:
    """The header of a safetensors file, checked as the safetensors library would.

    Args:
        read: gives `length` bytes from `offset`; asked for the header and at most 64 kB more.
        size: of the whole file, in bytes.
        name: of the file, for the tensors and for what is said.

    Raises:
        FileRefusal: one of its kinds, where the file is cut, damaged, hostile or another thing.
    """
    text, start = _header_text(read, size, name)
    try:
        entries = parse_object(text, name)
    except BrokenJson as broken:
        raise FileRefusal.damaged(name, "its header is not JSON") from broken
    metadata = entries.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict):
        raise FileRefusal.damaged(name, "its metadata is not a list of names and values")
    tensors = [_tensor(key, entry, start, name) for key, entry in entries.items()]
    _check_cover(tensors, start, size, name)
    return Header("safetensors", tuple(tensors), metadata)


def _header_text(read: ReadAt, size: int, name: str) -> tuple[bytes, int]:
    first = read_exactly(read, 0, min(size, FIRST_READ), name, size)
    if size < 8:
        refuse_other_content(first, size, name, "safetensors")
        raise FileRefusal.truncated(name, 8, size)
    length = int.from_bytes(first[:8], "little")
    end = 8 + length
    if length > HEADER_LIMIT or end > size or first[8:9] != b"{":
        refuse_other_content(first, size, name, "safetensors")
    if length > HEADER_LIMIT:
        raise FileRefusal.too_large(name, length, HEADER_LIMIT)
    if end > len(first):
        first += read_exactly(read, len(first), end - len(first), name, size)
    if first[8:9] != b"{":
        raise FileRefusal.damaged(name, "its header is not JSON")
    return first[8:end], end


def _tensor(key: str, entry: object, start: int, file: str) -> StoredTensor:
    fields = entry if isinstance(entry, dict) else {}
    dtype = fields.get("dtype")
    shape = plain_sizes(fields.get("shape"))
    ends = plain_sizes(fields.get("data_offsets"))
    if not isinstance(dtype, str) or not (dtype in BITS or re.fullmatch(_OTHER_DTYPE, dtype)):
        raise FileRefusal.damaged(file, "a tensor in it has no type")
    numbers = math.prod(shape or ())
    if shape is None or ends is None or len(ends) != 2 or numbers >= MAX_SIZE:
        raise FileRefusal.hostile(file, "a tensor whose size is not a size")
    begin, end = ends
    bits = BITS.get(dtype)
    if end < begin or (bits and numbers * bits != (end - begin) * 8):
        raise FileRefusal.damaged(file, "the shape of a tensor does not fit its bytes")
    return StoredTensor(key, shape, dtype, end - begin, file, start + begin)


def _check_cover(tensors: list[StoredTensor], start: int, size: int, name: str) -> None:
    """Every byte after the header belongs to exactly one tensor."""
    at = start
    for offset, nbytes in sorted((tensor.offset or 0, tensor.nbytes) for tensor in tensors):
        if offset != at:
            raise FileRefusal.damaged(name, "its tensors overlap or leave gaps")
        at += nbytes
    if at > size:
        raise FileRefusal.truncated(name, at, size)
    if at < size:
        raise FileRefusal.damaged(name, f"{size - at:,} bytes at its end belong to no tensor")
