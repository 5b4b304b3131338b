"""The part of the plane that is drawn first, and the points that lie outside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LOW, _HIGH = 0.1, 99.9  # per cent of the points on each axis
_REACH = 0.5  # of that span: an extreme point this near is drawn as well
_FEW = 20  # this many points have no percentiles worth the name


@dataclass(frozen=True)
class Box:
    """The view, and what it leaves out.

    Attributes:
        low: (2,) least coordinates.
        high: (2,) largest.
        outside: rows that lie outside, the farthest first.
        excess: how far outside each lies, in sides of the box.
    """

    low: np.ndarray
    high: np.ndarray
    outside: np.ndarray
    excess: np.ndarray


def view_box(points: np.ndarray, drawn: np.ndarray) -> Box:
    """Percentiles 0.1 to 99.9 of the drawn points on each axis, and a little more.

    One long row would otherwise press all others into a dot.

    Args:
        points: (V, 2).
        drawn: (V,) which of them are drawn.
    """
    ids = np.flatnonzero(drawn)
    shown = points[ids].astype(np.float64)
    least, most = shown.min(axis=0), shown.max(axis=0)
    low, high = least, most
    if len(ids) >= _FEW:
        inner_low = np.percentile(shown, _LOW, axis=0, method="higher")
        inner_high = np.percentile(shown, _HIGH, axis=0, method="lower")
        reach = _REACH * (inner_high - inner_low)
        low = np.maximum(least, inner_low - reach)
        high = np.minimum(most, inner_high + reach)
    side = np.where(high > low, high - low, 1.0)
    excess = np.maximum(low - shown, shown - high).max(axis=1) / side.max()
    beyond = np.flatnonzero(((shown < low) | (shown > high)).any(axis=1))
    order = beyond[np.argsort(-excess[beyond], kind="stable")]
    margin = 0.04 * side
    return Box(low - margin, high + margin, ids[order], excess[order])
