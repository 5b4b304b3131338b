"""How the numbers of a verdict are printed."""

from __future__ import annotations

from tiedviz.files.header import StoredTensor
from tiedviz.words.numbers import count
from tiedviz.words.refusals.file import printable


def shape_words(tensor: StoredTensor) -> str:
    """49,152×576."""
    return "×".join(count(size) for size in tensor.shape)


def tensor_words(tensor: StoredTensor) -> str:
    """model.embed_tokens.weight 49,152×576 F32, safe to show."""
    return f"{printable(tensor.name)} {shape_words(tensor)} {tensor.dtype}"
