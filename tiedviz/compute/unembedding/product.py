"""States times a matrix, by a plain product, and how far rounding may take it from the model's."""

from __future__ import annotations

import torch

from tiedviz.compute.unembedding.tolerance import tolerance
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
