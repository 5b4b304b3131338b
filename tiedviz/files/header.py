"""What does a model's file hold? Names, shapes, types and places, without the numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

# Bits of one number, by the name safetensors gives its type.
BITS = {
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0"), 8),
    **dict.fromkeys(("F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 16),
    **dict.fromkeys(("I32", "U32", "F32"), 32),
    **dict.fromkeys(("I64", "U64", "F64", "C64"), 64),
    **dict.fromkeys(("C128",), 128),
}

# Beyond these no tensor library can address a tensor.
MAX_DIMENSIONS = 64
MAX_SIZE = 2**63


class StoredTensor(NamedTuple):
    """One tensor as its file describes it."""

    name: str
    """As stored, with any prefix. May hold control characters: escape before showing."""
    shape: tuple[int, ...]
    """Rows first, also for GGUF, which stores them last."""
    dtype: str
    """F32, BF16, I8, … as in safetensors, or a GGML type such as Q8_0."""
    nbytes: int
    """Bytes its numbers take in the file."""
    file: str
    """Name of the file, without its folder."""
    offset: int | None
    """Where its first byte lies in that file; None where its numbers are not one plain run."""

    @property
    def numbers(self) -> int:
        """How many numbers the shape describes."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Header:
    """Everything a model's files say about themselves before a number is read."""

    format: str
    """The name of its format, as in `formats.FORMATS`."""
    tensors: tuple[StoredTensor, ...]
    """Every name, in the order of the files."""
    metadata: Mapping[str, object] = field(default_factory=dict, hash=False)
    """GGUF: its key-value pairs. Safetensors: `__metadata__`. Sharded: the index's `metadata`."""
    shared_storage: tuple[tuple[str, ...], ...] = ()
    """Names that are one and the same run of numbers inside a .bin file."""
    absent: tuple[str, ...] = ()
    """Names that an index promises and that no shard holds."""

    @cached_property
    def by_name(self) -> dict[str, StoredTensor]:
        """Each tensor under its stored name."""
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def distinct(self) -> tuple[StoredTensor, ...]:
        """The tensors, one per run of numbers: of names that share a storage, the first."""
        repeated = {name for group in self.shared_storage for name in group[1:]}
        return tuple(tensor for tensor in self.tensors if tensor.name not in repeated)

    @property
    def stored_numbers(self) -> int:
        """Numbers in the files; names that share one storage count once."""
        return sum(_numbers_in_file(tensor) for tensor in self.distinct)

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers in the files; names that share one storage count once."""
        return sum(tensor.nbytes for tensor in self.distinct)


def plain_sizes(values: object, most: int = MAX_DIMENSIONS) -> tuple[int, ...] | None:
    """The values as a tuple if they are a few whole numbers from 0 to 2^63, else None."""
    if not isinstance(values, list | tuple) or len(values) > most:
        return None
    for value in values:  # twice for each tensor, where `all` of a generator takes thrice as long
        if type(value) is not int or not 0 <= value < MAX_SIZE:
            return None
    return tuple(values)


def _numbers_in_file(tensor: StoredTensor) -> int:
    # A .bin may store one number and a shape that repeats it (stride 0).
    bits = BITS.get(tensor.dtype)
    return min(tensor.numbers, tensor.nbytes * 8 // bits) if bits else tensor.numbers


def join_shards(
    shards: Sequence[Header], files: Mapping[str, str], metadata: Mapping[str, object]
) -> Header:
    """One header for all shards.

    A tensor that lies in several shards is taken from the one that the index names. What the index
    names and no shard holds is kept in `absent`.
    """
    tensors = tuple(
        tensor
        for shard in shards
        for tensor in shard.tensors
        if files.get(tensor.name, tensor.file) == tensor.file
    )
    held = {tensor.name for tensor in tensors}
    absent = tuple(name for name in files if name not in held)
    groups = tuple(group for shard in shards for group in shard.shared_storage)
    return Header(shards[0].format, tensors, metadata, groups, absent)
