"""How far two computations of the same logits may lie apart by rounding alone."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch


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
