"""How alike two matrices of one vocabulary are: row by row, by neighbours, up to a rotation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from tiedviz.compute.anchors import ANCHORS, half_interval, nearest_rows, shared_part


@dataclass(frozen=True)
class Alikeness:
    """Two matrices compared.

    Attributes:
        row_cosine: mean cosine of row j of the one with row j of the other.
        row_cosine_least: the smallest of them.
        neighbours_shared: mean share of the 10 nearest rows (by cosine) that both agree on.
        neighbours_margin: half the 95 % interval of that mean.
        anchors: rows it was taken over.
        after_rotation: mean row cosine after the best rotation (orthogonal Procrustes).
    """

    row_cosine: float
    row_cosine_least: float
    neighbours_shared: float
    neighbours_margin: float
    anchors: int
    after_rotation: float


def alikeness(one: torch.Tensor, other: torch.Tensor, *, seed: int = 0) -> Alikeness:
    """How alike two (V, d) matrices are. Anchors are drawn once, by `seed`.

    Raises:
        ValueError: their shapes differ.
    """
    if one.shape != other.shape:
        raise ValueError(f"shapes differ: {tuple(one.shape)} and {tuple(other.shape)}")
    a, b = _unit(one), _unit(other)
    cosines = (a * b).sum(1)
    shared = _neighbours_shared(a, b, seed)
    # the rotation that brings one closest to the other (Schönemann 1966): from the SVD of aᵀb
    left, _, right = torch.linalg.svd(a.double().T @ b.double())
    turned = a @ (left @ right).float()
    return Alikeness(
        row_cosine=float(cosines.mean()),
        row_cosine_least=float(cosines.min()),
        neighbours_shared=float(shared.mean()),
        neighbours_margin=half_interval(shared),
        anchors=len(shared),
        after_rotation=float((turned * b).sum(1).mean()),
    )


def _unit(matrix: torch.Tensor) -> torch.Tensor:
    rows = matrix.detach().float().cpu()
    return rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-12)


def _neighbours_shared(a: torch.Tensor, b: torch.Tensor, seed: int) -> np.ndarray:
    """(A,) for each anchor the part of its nearest rows that are the same in both."""
    generator = torch.Generator().manual_seed(seed)
    anchors = torch.randperm(len(a), generator=generator)[:ANCHORS]
    return shared_part(nearest_rows(a, anchors), nearest_rows(b, anchors))
