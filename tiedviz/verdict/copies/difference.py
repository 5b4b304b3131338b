"""How far apart are two matrices, added up over blocks of rows?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tiedviz.verdict.copies.near import (
    MATRIX_LIMIT,
    far_by_rounding,
    far_by_steps,
    some_in_row,
    squared_steps,
)
from tiedviz.verdict.copies.types import GRIDS, coarser
from tiedviz.verdict.witnesses import Comparison, Near

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


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
        near = self._near() if not far else ""
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

    def _near(self) -> Near:
        return "quantisation" if self._quantised else "rounding"


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
