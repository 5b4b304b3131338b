"""Rows that hold the same numbers, and so lie on one another in every picture."""

from __future__ import annotations

import numpy as np
import torch

from tiedviz.compute.token_map.rows import MapRows, blocks

_SEED = 0


def equal_rows(matrix: torch.Tensor, rows: MapRows) -> list[np.ndarray]:
    """Groups of ids with equal finite rows, largest group first; zero rows are a group as well.

    Rows are told apart by a sum of their bits, each multiplied with a number of its own; rows with
    equal sums are compared number by number.
    """
    generator = np.random.default_rng(_SEED)
    factors = generator.integers(1, 2**62, matrix.shape[1], dtype=np.int64) | 1
    marks = np.empty(len(matrix), np.int64)
    for first, block in blocks(matrix):
        bits = (np.ascontiguousarray(block) + np.float32(0)).view(np.int32)  # −0 counts as 0
        with np.errstate(over="ignore"):
            marks[first : first + len(block)] = bits.astype(np.int64) @ factors
    ids = np.flatnonzero(rows.finite)
    _, group, sizes = np.unique(marks[ids], return_inverse=True, return_counts=True)
    groups = []
    for each in np.flatnonzero(sizes > 1):
        groups += _truly_equal(matrix, ids[group == each])
    return sorted(groups, key=lambda found: (-len(found), int(found[0])))


def _truly_equal(matrix: torch.Tensor, ids: np.ndarray) -> list[np.ndarray]:
    table = matrix.detach()[torch.from_numpy(ids)].cpu().float().numpy()
    _, group = np.unique(table, axis=0, return_inverse=True)
    group = group.reshape(-1)
    found = [ids[group == each] for each in range(int(group.max()) + 1)]
    return [members for members in found if len(members) > 1]
