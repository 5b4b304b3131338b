"""How far the rows point the same way: the zero line of every cosine on the page.

The mean over all pairs of rows needs no pairs: with u the rows divided by their lengths, it is
(‖Σu‖² − n) / n(n−1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from tiedviz.compute.token_map.rows import MapRows, blocks


@dataclass(frozen=True)
class Spread:
    """Numbers about all usable rows.

    Attributes:
        cosine: the mean cosine of two different rows.
        centred_cosine: the same after the mean row was taken off each.
        mean_length: ‖mean row‖.
        median_norm: the median of ‖e‖.
        mean_norm: its mean.
        least_norm: the shortest row.
        largest_norm: the longest row.
    """

    cosine: float
    centred_cosine: float
    mean_length: float
    median_norm: float
    mean_norm: float
    least_norm: float
    largest_norm: float


def spread_of(matrix: torch.Tensor, rows: MapRows) -> Spread:
    """Measure all usable rows; NaN where there are none, or for a cosine fewer than two."""
    usable, norms = rows.usable, rows.norms
    count = max(1, int(usable.sum()))
    total = np.zeros(matrix.shape[1])
    for first, block in blocks(matrix):
        total += block[usable[first : first + len(block)]].sum(axis=0, dtype=np.float64)
    mean = total / count
    used = norms[usable].astype(np.float64) if usable.any() else np.array([np.nan])
    return Spread(
        cosine=_mean_cosine(matrix, usable, np.zeros_like(mean)),
        centred_cosine=_mean_cosine(matrix, usable, mean),
        mean_length=float(np.linalg.norm(mean)),
        median_norm=float(np.median(used)),
        mean_norm=float(used.mean()),
        least_norm=float(used.min()),
        largest_norm=float(used.max()),
    )


def _mean_cosine(matrix: torch.Tensor, usable: np.ndarray, origin: np.ndarray) -> float:
    """Over all pairs of different usable rows that have a direction once `origin` is taken off."""
    total, count = np.zeros(len(origin)), 0
    for first, block in blocks(matrix):
        taken = block[usable[first : first + len(block)]] - origin.astype(np.float32)
        lengths = np.linalg.norm(taken, axis=1)
        pointing = lengths > 0
        units = taken[pointing] / lengths[pointing, None]
        total += units.sum(axis=0, dtype=np.float64)
        count += int(pointing.sum())
    if count < 2:
        return float("nan")
    return float((total @ total - count) / (count * (count - 1)))
