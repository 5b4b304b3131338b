"""How alike two matrices of one vocabulary are: row by row, by neighbours, up to a rotation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

# Rows whose neighbours are compared; enough for an interval of about ±1 point.
ANCHORS = 2000
_NEIGHBOURS = 10
_BLOCK = 256


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
    margin = 1.96 * float(shared.std()) / math.sqrt(len(shared)) if len(shared) > 1 else 0.0
    # the rotation that brings one closest to the other (Schönemann 1966): from the SVD of aᵀb
    left, _, right = torch.linalg.svd(a.double().T @ b.double())
    turned = a @ (left @ right).float()
    return Alikeness(
        row_cosine=float(cosines.mean()),
        row_cosine_least=float(cosines.min()),
        neighbours_shared=float(shared.mean()),
        neighbours_margin=margin,
        anchors=len(shared),
        after_rotation=float((turned * b).sum(1).mean()),
    )


def _unit(matrix: torch.Tensor) -> torch.Tensor:
    rows = matrix.detach().float().cpu()
    return rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-12)


def _neighbours_shared(a: torch.Tensor, b: torch.Tensor, seed: int) -> torch.Tensor:
    """For each anchor the share of its nearest rows that are the same in both, (anchors,)."""
    rows = len(a)
    anchors = torch.randperm(rows, generator=torch.Generator().manual_seed(seed))[:ANCHORS]
    count = min(_NEIGHBOURS, rows - 1)
    shares = []
    for block in anchors.split(_BLOCK):
        near_a, near_b = _nearest(a, block, count), _nearest(b, block, count)
        same = (near_a[:, :, None] == near_b[:, None, :]).any(2)
        shares.append(same.float().mean(1))
    return torch.cat(shares)


def _nearest(unit: torch.Tensor, anchors: torch.Tensor, count: int) -> torch.Tensor:
    cosines = unit[anchors] @ unit.T
    cosines[torch.arange(len(anchors)), anchors] = -2  # not itself
    return cosines.topk(count, dim=1).indices
