"""Which rows of E can be points: finite ones, with a direction, that belong to a token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

# Rows taken at a time: 21 MB at width 640, small enough for the cache of a large processor and
# large enough that products run at full speed.
_BLOCK = 8192


@dataclass(frozen=True)
class MapRows:
    """What is known of each row before anything is drawn.

    Attributes:
        norms: (V,) float32, ‖e‖; not finite where the row is not.
        finite: (V,) whether every number of the row is finite.
        with_token: (V,) whether a token uses the row.
    """

    norms: np.ndarray
    finite: np.ndarray
    with_token: np.ndarray

    @property
    def usable(self) -> np.ndarray:
        """(V,) rows that are finite and belong to a token."""
        return self.finite & self.with_token

    @property
    def zero(self) -> np.ndarray:
        """(V,) finite rows of length 0, which have no direction."""
        return self.finite & (self.norms == 0)


def map_rows(matrix: torch.Tensor, with_token: np.ndarray | None = None) -> MapRows:
    """Look at every row once.

    Args:
        matrix: E, (V, d), any floating dtype.
        with_token: (V,) whether a token uses the row; None where all are used.
    """
    norms = np.concatenate([np.linalg.norm(block, axis=1) for _, block in blocks(matrix)])
    finite = np.isfinite(norms)
    for row in np.flatnonzero(~finite):  # a finite row can be too long for a float32
        finite[row] = bool(torch.isfinite(matrix[row]).all())
        if finite[row]:
            norms[row] = np.finfo(np.float32).max
    every = np.ones(len(norms), bool) if with_token is None else np.asarray(with_token, bool)
    return MapRows(norms, finite, every)


def blocks(matrix: torch.Tensor) -> Iterator[tuple[int, np.ndarray]]:
    """The rows in order, (first, block): blocks are float32 and views where E is float32 here."""
    for first in range(0, len(matrix), _BLOCK):
        block = matrix.detach()[first : first + _BLOCK]
        yield first, block.cpu().float().numpy()


def slice_of(chosen: np.ndarray) -> slice | None:
    """The chosen rows as a slice, where they are one stretch."""
    ids = np.flatnonzero(chosen)
    if len(ids) and ids[-1] - ids[0] + 1 == len(ids):
        return slice(int(ids[0]), int(ids[-1]) + 1)
    return None
