"""The rows of a stored matrix as numbers, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tiedviz.files.access import ReadAt, read_exactly
from tiedviz.files.header import BITS
from tiedviz.verdict.copies.place import Place
from tiedviz.verdict.copies.types import FRACTION_BITS, GRIDS

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]
    Rows = Callable[[int, int], Array]

_NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
_TORCH = {
    **{"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"},
    **{"F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz"},
}


def is_readable(dtype: str) -> bool:
    """Whether numbers of this type can be turned into floats."""
    return dtype in FRACTION_BITS or dtype in GRIDS


def torch_type(dtype: str) -> Any:
    """The torch type that an 8-bit float is."""
    import torch

    return getattr(torch, _TORCH[dtype])


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
        return _numbers(raw, tensor.dtype, stop - start, width)

    return rows


def _numbers(raw: bytes, dtype: str, height: int, width: int) -> Array:
    import numpy as np

    if dtype in _NUMPY:
        numbers = np.frombuffer(raw, _NUMPY[dtype])
        numbers = numbers if dtype == "F64" else numbers.astype(np.float32)
    elif dtype == "BF16":
        numbers = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
    elif dtype in _TORCH:
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
