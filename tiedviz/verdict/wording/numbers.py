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


def exact_size(size: int) -> str:
    """Bytes with one decimal: 56.6 MB, since a saving is compared with a file's size."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return f"{size} bytes"


def small_number(number: float | None) -> str:
    """Three figures, or "not a number"."""
    return "not a number" if number is None else f"{number:.3g}"
