"""Vectors seen along h: a flat picture in which "further along" is exactly "larger logit"."""

from __future__ import annotations

import numpy as np
import pandas as pd


def seen_along(h: np.ndarray, rows: np.ndarray) -> pd.DataFrame:
    """Where the tips of `rows` lie when h points along the first axis.

    Columns: along (h·e / ‖h‖, exact, so that the order is that of the logits), across (in the one
    direction at right angles to h in which these rows differ most), hidden (the length of what
    neither axis shows).

    Args:
        h: (d,), not zero.
        rows: (n, d).

    Raises:
        ValueError: h is zero and points nowhere.
    """
    length = float(np.linalg.norm(h))
    if length == 0:
        raise ValueError("h is zero: it has no direction")
    unit = h / length
    along = rows @ unit
    beside = rows - np.outer(along, unit)
    direction = np.linalg.svd(beside, full_matrices=False)[2][0]
    if direction[np.abs(direction).argmax()] < 0:  # of the two signs, always the same
        direction = -direction
    across = beside @ direction
    hidden = np.linalg.norm(beside - np.outer(across, direction), axis=1)
    return pd.DataFrame({"along": along, "across": across, "hidden": hidden})
