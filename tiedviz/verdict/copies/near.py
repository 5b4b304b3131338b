"""Which rows differ by more than the two stored types explain?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiedviz.verdict.copies.types import FRACTION_BITS, GRIDS, Grid, coarser

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

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

    from tiedviz.verdict.copies.rows import torch_type

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
