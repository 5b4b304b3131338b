"""Two matrices of one vocabulary compared: which rows moved, how alike, what each would say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from tiedviz.compute.anchors import ANCHORS, half_interval, nearest_rows, shared_part
from tiedviz.compute.next_token.state import ScoredState
from tiedviz.compute.unembedding import AfterHead
from tiedviz.compute.unembedding.product import plain_product
from tiedviz.models.loaded import LoadedModel

_BLOCK = 8192  # rows


@dataclass(frozen=True)
class AgainstBase:
    """What became of the base's rows.

    Attributes:
        unchanged: rows that hold the same numbers; what is no number in both is the same.
        changed: rows that differ.
        added: rows beyond the base's last.
        removed: rows of the base that are gone.
        moved: the rows that moved most, one row each: row, distance, relative (distance over the
            base row's length), cosine with the base's row; first those for which there are no such
            numbers, since one of the two rows is not finite.
    """

    unchanged: int
    changed: int
    added: int
    removed: int
    moved: pd.DataFrame

    @property
    def identical(self) -> bool:
        """Whether every row of the base is there, unchanged, and nothing else."""
        return not (self.changed or self.added or self.removed)


def against_base(now: torch.Tensor, base: torch.Tensor, *, top: int = 20) -> AgainstBase:
    """Compare `now` with `base`, both (rows, d), in float32.

    Raises:
        ValueError: their widths differ.
    """
    if now.shape[1] != base.shape[1]:
        raise ValueError(f"widths differ: {now.shape[1]} and {base.shape[1]}")
    rows = min(len(now), len(base))
    distances, equal = [], 0
    for start in range(0, rows, _BLOCK):
        mine = now[start : min(start + _BLOCK, rows)].detach().float()
        theirs = base[start : min(start + _BLOCK, rows)].detach().float()
        same = ((mine == theirs) | (mine.isnan() & theirs.isnan())).all(1)
        equal += int(same.sum())
        distances.append((mine - theirs).norm(dim=1).masked_fill(same, 0))
    distance = torch.cat(distances)
    most = distance.topk(min(top, rows))
    kept = most.indices[most.values != 0]
    mine, theirs = now[kept].detach().float(), base[kept].detach().float()
    moved = pd.DataFrame(
        {
            "row": kept.tolist(),
            "distance": distance[kept].tolist(),
            "relative": (distance[kept] / theirs.norm(dim=1).clamp_min(1e-12)).tolist(),
            "cosine": torch.cosine_similarity(mine, theirs).tolist(),
        }
    )
    return AgainstBase(
        equal, rows - equal, max(0, len(now) - rows), max(0, len(base) - rows), moved
    )


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


def through(
    loaded: LoadedModel,
    reading: ScoredState,
    after: AfterHead,
    matrix: torch.Tensor,
    *,
    top: int = 5,
) -> pd.DataFrame:
    """The `top` tokens that `matrix`, (V, d), gives for the state of `reading`.

    Columns: rank, id, text (as printed), logit, probability.
    """
    logits = after(plain_product(reading.h, matrix))
    best = logits.topk(min(top, len(logits)))
    probability = torch.softmax(logits.double(), 0)[best.indices]
    return pd.DataFrame(
        {
            "rank": range(1, len(best.indices) + 1),
            "id": best.indices.tolist(),
            "text": [loaded.vocabulary.token(id).shown for id in best.indices.tolist()],
            "logit": best.values.tolist(),
            "probability": probability.tolist(),
        }
    )
