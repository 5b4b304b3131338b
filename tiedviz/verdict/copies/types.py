"""What can each stored type tell apart? Bits of a float's fraction, and the step of a block's grid.

A quantised block stores its numbers on a grid, so rounding moves each by up to half a step of it
and, spread evenly, by step/√12 in the mean (root of mean squares). The step follows from the block
itself: its largest magnitude, or its range where the type keeps a minimum too, divided by what the
type's bits can count. Where a type looks several numbers up in a book at once, its step is √12
times the error that llama.cpp's own quantiser was measured to make.
"""

from __future__ import annotations

from typing import NamedTuple

# Bits of the fraction of each float type.
FRACTION_BITS = {
    **{"F64": 52, "F32": 23, "F16": 10, "BF16": 7},
    **{"F8_E4M3": 3, "F8_E4M3FNUZ": 3, "F8_E5M2": 2, "F8_E5M2FNUZ": 2},
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
