"""States times a matrix, by a plain product, and how far rounding may take it from the model's."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

from tiedviz.models.loaded import LoadedModel


def plain_product(h: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """h·Wᵀ in float32, never by calling the head. Shapes (…, d), (V, d) → (…, V), on the CPU."""
    return (h.to(matrix.device).float() @ matrix.detach().float().T).cpu()


def limit_for(
    h: torch.Tensor, logits: torch.Tensor, loaded: LoadedModel, factor: float = 1.0
) -> float:
    """The largest difference that rounding explains for these states and logits."""
    return tolerance(
        width=h.shape[-1],
        h_norm=float(h.float().norm(dim=-1).max()) * abs(factor),
        row_norm=float(row_norms(loaded).max()),
        largest_logit=float(logits.abs().max()),
        dtype=loaded.scoring_matrix.dtype,
    )


def row_norms(loaded: LoadedModel) -> torch.Tensor:
    """‖e_j‖ of every row of the matrix that scores, (V,) float32; computed once for each model."""
    return _norms(loaded, "row_norms", loaded.scoring_matrix)


def embedding_norms(loaded: LoadedModel) -> torch.Tensor:
    """‖e_j‖ of every row of E, (V,) float32; where tied, those of `row_norms`."""
    return row_norms(loaded) if loaded.tied else _norms(loaded, "E norms", loaded.embedding)


def _norms(loaded: LoadedModel, key: str, matrix: torch.Tensor) -> torch.Tensor:
    if key not in loaded.memo:
        loaded.memo[key] = matrix.detach().float().norm(dim=1).cpu()
    return loaded.memo[key]


def tolerance(
    *, width: int, h_norm: float, row_norm: float, largest_logit: float, dtype: torch.dtype
) -> float:
    """The largest difference between two logits that rounding explains.

    A sum of d products, each rounded, is off by about √d · u · ‖h‖·‖e‖ (u half the machine epsilon;
    the probabilistic bound of Higham & Mary 2019); matrix libraries add in blocks of sixteen or
    more, which divides the √d by four, and add the blocks up, which counts as one more. To that
    comes the rounding of the result itself, and, where the model works in fewer bits than float32,
    of every product in it.

    Args:
        width: d, terms in one sum.
        h_norm: ‖h_L‖.
        row_norm: the largest ‖e_j‖.
        largest_logit: the largest |z_j|.
        dtype: the one the model computes in.
    """
    spread = (math.sqrt(width) / 4 + 1) * h_norm * row_norm
    working = torch.finfo(torch.float32).eps / 2
    stored = torch.finfo(dtype).eps
    return spread * working + stored * max(largest_logit, 1.0) + _coarse(dtype, h_norm * row_norm)


def worst(differences: Iterable[float]) -> float:
    """The largest of them; nan where one is, which `max` loses behind an ordinary number."""
    return max(differences, key=lambda each: math.inf if math.isnan(each) else each)


def _coarse(dtype: torch.dtype, product: float) -> float:
    """What half-precision inputs add: their products are exact, their accumulator is rounded."""
    return 0.0 if dtype is torch.float32 else torch.finfo(dtype).eps / 4 * product
