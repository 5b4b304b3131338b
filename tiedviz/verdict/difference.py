"""How far apart are two matrices, and is that more than their stored types explain?

A type tells apart what the bits of a float's fraction do, or one step of a block's grid.
A quantised block stores its numbers on a grid, so rounding moves each by up to half a step of it
and, spread evenly, by step/√12 in the mean (root of mean squares). The step follows from the block
itself: its largest magnitude, or its range where the type keeps a minimum too, divided by what the
type's bits can count. Where a type looks several numbers up in a book at once, its step is √12
times the error that llama.cpp's own quantiser was measured to make.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from tiedviz.verdict.witnesses import Comparison, Near

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

# Bits of the fraction of each float type.
FRACTION_BITS = {
    **{"F64": 52, "F32": 23, "F16": 10, "BF16": 7},
    **{"F8_E4M3": 3, "F8_E4M3FNUZ": 3, "F8_E5M2": 2, "F8_E5M2FNUZ": 2},
}
EIGHT_BIT_FLOATS = {
    **{"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"},
    **{"F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz"},
}


class Grid(NamedTuple):
    """How a quantised type rounds."""

    block: int
    """Numbers that share a scale."""
    step: float
    """One step of the grid, as a part of the block's largest magnitude, or of its range."""
    has_minimum: bool
    """Whether it is a part of the range."""


GRIDS = {
    "Q4_0": Grid(32, 1 / 8, False),
    "Q5_0": Grid(32, 1 / 16, False),
    "Q8_0": Grid(32, 1 / 127, False),
    "Q4_1": Grid(32, 1 / 15, True),
    "Q5_1": Grid(32, 1 / 31, True),
    "Q2_K": Grid(16, 1 / 3, True),
    "Q3_K": Grid(16, 1 / 4, False),
    "Q4_K": Grid(32, 1 / 15, True),
    "Q5_K": Grid(32, 1 / 31, True),
    "Q6_K": Grid(16, 1 / 32, False),
    # sixteen uneven values from -127 to 113, at most 24 apart
    "IQ4_NL": Grid(32, 24 / 127, False),
    "IQ4_XS": Grid(32, 24 / 127, False),
    # 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives
    "MXFP4": Grid(32, 2 / 6, False),
    "NVFP4": Grid(16, 2 / 6, False),
    # ternary
    "TQ1_0": Grid(256, 1.0, False),
    "TQ2_0": Grid(256, 1.0, False),
    # from books of vectors: measured
    "IQ3_XXS": Grid(32, 0.29, False),
    "IQ3_S": Grid(32, 0.23, False),
    "IQ2_S": Grid(16, 0.45, False),
    "IQ2_XS": Grid(16, 0.55, False),
    "IQ2_XXS": Grid(32, 0.6, False),
    "IQ1_S": Grid(32, 1.0, False),
    "IQ1_M": Grid(16, 1.0, False),
}


def coarser(one: str, other: str) -> str:
    """Of two types, the one that tells less apart."""
    return max(one, other, key=_coarseness)


def _coarseness(dtype: str) -> float:
    if dtype in GRIDS:
        return GRIDS[dtype].step
    return 2.0 ** -FRACTION_BITS.get(dtype, 60)


def torch_type(dtype: str) -> Any:
    """The torch type that an 8-bit float is."""
    import torch

    return getattr(torch, EIGHT_BIT_FLOATS[dtype])


# A row may be off by one step in the root of mean squares, where 0.29 is expected: quantisers that
# weigh by importance let single rows go far. But never by so much that it may be another row.
_ROW_LIMIT = 1.0
_ROW_SHARE = 0.75
# Over the whole matrix the mean is sharp: 0.12 to 0.38 steps, whatever the type and the numbers.
MATRIX_LIMIT = 0.4


def far_by_rounding(one: Array, other: Array, dtypes: tuple[str, str]) -> Array:
    """For each row whether some number is not the other one's, rounded to the coarser type."""
    coarse = coarser(*dtypes)
    fine, rough = (other, one) if dtypes[0] == coarse else (one, other)
    fine_type = dtypes[1] if dtypes[0] == coarse else dtypes[0]
    if fine_type == "F16" and coarse == "BF16":  # both were rounded, from what nobody knows
        far = abs(fine - rough) > _half_unit(rough, 7) * 1.126 + 2.0**-25
    else:
        far = (rounded(fine, coarse) != rough) & (cut_short(fine, coarse) != rough)
    return some_in_row(far)


def some_in_row(flags: Array) -> Array:
    """For each row whether any of its flags is set."""
    rows: Any = flags.any(axis=1)
    return rows


def rounded(numbers: Array, dtype: str) -> Array:
    """The numbers as `dtype` would hold them, to the nearest, in float32."""
    import numpy as np

    if dtype == "F32":
        return numbers.astype(np.float32)
    if dtype == "F16":
        with np.errstate(over="ignore"):
            return numbers.astype(np.float16).astype(np.float32)
    if dtype == "BF16":
        bits = numbers.astype(np.float32).view(np.uint32)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
        return bits.view(np.float32)
    import torch

    exact = torch.from_numpy(np.ascontiguousarray(numbers, np.float32))
    return exact.to(torch_type(dtype)).float().numpy()


def cut_short(numbers: Array, dtype: str) -> Array:
    """The same for converters that cut BF16 off instead of rounding; other types as rounded."""
    import numpy as np

    if dtype != "BF16":
        return rounded(numbers, dtype)
    bits = numbers.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


def _half_unit(numbers: Array, fraction_bits: int) -> Array:
    import numpy as np

    _, exponent = np.frexp(numbers)
    return np.ldexp(0.5, exponent - 1 - fraction_bits)


def squared_steps(numbers: Array, dtype: str) -> Array:
    """For each row the mean square of its type's step, as the row's own blocks give it."""
    import numpy as np

    grid = GRIDS.get(dtype)
    if grid is None:
        relative = 2.0 ** -FRACTION_BITS[dtype]
        return relative**2 * np.square(numbers, dtype=np.float64).mean(axis=1)
    steps = _steps(numbers, grid)
    return np.square(steps, dtype=np.float64).mean(axis=1)


def _steps(numbers: Array, grid: Grid) -> Array:
    height, width = numbers.shape
    blocks = numbers.reshape(height, -1, min(grid.block, width))
    if grid.has_minimum:
        return (blocks.max(axis=2) - blocks.min(axis=2)) * grid.step
    return abs(blocks).max(axis=2) * grid.step


def far_by_steps(squared_error: Array, squared_step: Array, squared_size: Array) -> Array:
    """For each row whether its mean square error is more than its types' steps explain."""
    import numpy as np

    allowed = np.minimum(_ROW_LIMIT**2 * squared_step, _ROW_SHARE**2 * squared_size)
    return ~(squared_error <= allowed)  # also where something is not a number


class Difference:
    """Sums that grow with each block, and the comparison they amount to."""

    def __init__(self, dtypes: tuple[str, str]) -> None:
        self._dtypes = dtypes
        self._quantised = dtypes[0] != dtypes[1] and any(dtype in GRIDS for dtype in dtypes)
        self._elements = self._rows = self._far = 0
        self._squares = self._error = self._steps = 0.0
        self._largest = 0.0
        self._cosine = 1.0

    def add(self, one: Array, other: Array) -> None:
        """Take in a block of rows of E, and the same rows of W."""
        import numpy as np

        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            different = one != other
            self._elements += int(different.sum())
            self._rows += int(some_in_row(different).sum())
            exact, others = one.astype(np.float64), other.astype(np.float64)
            error = exact - others
            error[~different] = 0.0  # the same infinity twice is no difference
            self._largest = _larger(self._largest, float(abs(error).max(initial=0.0)))
            sizes = [np.square(part).sum(axis=1) for part in (exact, others, error)]
            self._squares += float(sizes[0].sum())
            self._error += float(sizes[2].sum())
            self._cosine = min(self._cosine, _least_cosine(exact, others, sizes, different))
            self._far += int(self._far_rows(one, other, sizes, different).sum())

    def _far_rows(self, one: Array, other: Array, sizes: list[Array], different: Array) -> Array:
        if self._dtypes[0] == self._dtypes[1]:
            return some_in_row(different)
        if not self._quantised:
            return far_by_rounding(one, other, self._dtypes)
        width = one.shape[1]
        steps = squared_steps(one, self._dtypes[0]) + squared_steps(other, self._dtypes[1])
        self._steps += float(steps.sum()) * width
        import numpy as np

        return far_by_steps(sizes[2] / width, steps, np.maximum(sizes[0], sizes[1]) / width)

    def comparison(self, extra_rows: int = 0, width: int = 0) -> Comparison:
        """The result; `extra_rows` are rows of `width` that only one of the two has."""
        far = self._far + extra_rows
        if self._quantised and not far and not self._error <= MATRIX_LIMIT**2 * self._steps:
            far = self._rows
        kind: Near = "quantisation" if self._quantised else "rounding"
        near: Near = "" if far else kind
        return Comparison(
            same_bytes=False,
            differing_elements=self._elements + extra_rows * width,
            differing_rows=self._rows + extra_rows,
            max_abs=_finite(self._largest),
            relative_error=_finite(_root_of_ratio(self._error, self._squares)),
            min_row_cosine=_finite(self._cosine),
            near=near,
            within=coarser(*self._dtypes) if near and self._dtypes[0] != self._dtypes[1] else "",
            far_rows=far,
        )


def _least_cosine(one: Array, other: Array, sizes: list[Array], different: Array) -> float:
    """Rows without a difference have 1, also if they are zero; a zero row beside another has 0."""
    import numpy as np

    changed = some_in_row(different)
    if not changed.any():
        return 1.0
    product = (one[changed] * other[changed]).sum(axis=1)
    length = np.sqrt(sizes[0][changed]) * np.sqrt(sizes[1][changed])
    cosines = np.where(length > 0, product / np.where(length > 0, length, 1.0), 0.0)
    return float(np.clip(cosines, -1.0, 1.0).min())


def _larger(one: float, other: float) -> float:
    return other if math.isnan(other) or other > one else one


def _root_of_ratio(part: float, whole: float) -> float:
    return math.sqrt(part / whole) if whole > 0 and part >= 0 else (0.0 if part == 0 else math.inf)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
