"""Any vector of the right width against the matrix that scores, from a `.npy` file and back."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
import torch

from tiedviz.compute.unembedding import reproduced_unembedding
from tiedviz.compute.unembedding.product import plain_product
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.vector import (
    NotAnArray,
    NotFinite,
    NotNumbers,
    VectorTooLarge,
    WrongShape,
)

# The header of an honest file is 128 bytes; numpy itself reads at most this much of a stranger's.
_HEADER = 10_000


@dataclass(frozen=True)
class Scored:
    """A vector in the place of h. Has what `ranking.nearest_tokens` needs of a reading.

    Attributes:
        h: (d,) float32.
        product: (V,) float32, h·Wᵀ.
        logits: (V,) float32, what the model would make of that product.
    """

    h: torch.Tensor
    product: torch.Tensor
    logits: torch.Tensor


def scored(loaded: LoadedModel, vector: torch.Tensor) -> Scored:
    """The vector, (d,), as if it had entered the output matrix: nothing is normed before.

    Raises:
        ModelRefusal: what the model makes of it is not known.
    """
    _, after = reproduced_unembedding(loaded)
    with torch.inference_mode():
        product = plain_product(vector, loaded.scoring_matrix)
        return Scored(vector, product, after(product))


def vector_bytes(h: torch.Tensor) -> bytes:
    """A `.npy` file with the vector, float32."""
    file = io.BytesIO()
    np.save(file, h.detach().float().cpu().numpy(), allow_pickle=False)
    return file.getvalue()


def read_vector(raw: bytes, width: int) -> torch.Tensor:
    """The vector in a `.npy` file, (width,) float32. Nothing in the file is ever run.

    Args:
        raw: the file.
        width: d of the matrix.

    Raises:
        VectorTooLarge, NotAnArray, NotNumbers, WrongShape, NotFinite: each says what was found.
    """
    limit = 16 * width + _HEADER  # no number that numpy has takes more than 16 bytes
    if len(raw) > limit:
        raise VectorTooLarge(len(raw), limit)
    shape, dtype = _header(raw)
    if dtype.kind not in "fiu":
        raise NotNumbers("object" if dtype.hasobject else str(dtype))
    if shape not in ((width,), (1, width)):
        raise WrongShape(shape, width)
    try:
        array = np.load(io.BytesIO(raw), allow_pickle=False, max_header_size=_HEADER)
    except (ValueError, EOFError, OSError) as error:
        raise NotAnArray(_first_line(error)) from error
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(array.reshape(width), dtype=np.float32)
    if lost := int((~np.isfinite(numbers)).sum()):
        raise NotFinite(lost)
    return torch.from_numpy(numbers)


def _header(raw: bytes) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and dtype, before any number is read."""
    file = io.BytesIO(raw)
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file, max_header_size=_HEADER)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file, max_header_size=_HEADER)
    except Exception as error:  # the header is a Python literal: a stranger's fails in many ways
        raise NotAnArray(_first_line(error)) from error
    return shape, dtype


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200].rstrip(".") or type(error).__name__
