"""A rule for the sign of a component, so that the picture never mirrors.

An eigenvector and its negative are equally good, and which one comes out depends on the library,
its release and the order of the rows. The rule looks at the component alone: the sum of the cubes
of its entries is positive. Where that sum is a thousandth or less of what it could be (a component
that is symmetrical), its first large entry is positive.
"""

from __future__ import annotations

import numpy as np

_SYMMETRICAL = 1e-3
_LARGE = 0.5  # of the largest entry


def fixed_signs(components: np.ndarray) -> np.ndarray:
    """(K,) of 1.0 and −1.0, to multiply the rows of `components`, (K, d), with."""
    return np.array([_sign(component.astype(np.float64)) for component in components])


def _sign(component: np.ndarray) -> float:
    skew = float((component**3).sum())
    if abs(skew) > _SYMMETRICAL * float((np.abs(component) ** 3).sum()):
        return float(np.sign(skew))
    size = np.abs(component)
    first = int(np.argmax(size >= _LARGE * size.max()))
    return -1.0 if component[first] < 0 else 1.0
