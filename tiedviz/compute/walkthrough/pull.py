"""What one prediction does to the rows of the output matrix: how hard each is pulled or pushed.

For one position with target y the loss is −ln p[y], and the gradient of row j is c_j·h_L with
c_j = (p_j − 1 where j = y)·dz_j/d(h·w_j): exact, from the forward pass alone.
"""

from __future__ import annotations

import pandas as pd
import torch

from tiedviz.compute.next_token.state import ScoredState
from tiedviz.compute.unembedding import AfterHead
from tiedviz.models.loaded import LoadedModel


def pulls(
    loaded: LoadedModel, reading: ScoredState, after: AfterHead, target: int, *, top: int = 6
) -> pd.DataFrame:
    """The target and the rows that are pushed hardest, hardest first.

    Columns: id, text, probability, coefficient (c_j: below 0 pulls the row towards h_L), length
    (‖c_j·h_L‖, of the gradient of the row).
    """
    coefficients, probabilities = _coefficients(reading, after, target)
    largest = coefficients.abs().topk(min(top, len(coefficients))).indices.tolist()
    ids = list(dict.fromkeys([target, *largest]))[:top]
    length = float(reading.h.norm())
    return pd.DataFrame(
        {
            "id": ids,
            "text": [token.shown for token in loaded.vocabulary.tokens(ids)],
            "probability": probabilities[ids].tolist(),
            "coefficient": coefficients[ids].tolist(),
            "length": (coefficients[ids].abs() * length).tolist(),
        }
    )


def rows_pushed(reading: ScoredState, after: AfterHead, target: int) -> int:
    """How many rows get a gradient that is not exactly 0 in float64."""
    return int((_coefficients(reading, after, target)[0] != 0).sum())


def _coefficients(
    reading: ScoredState, after: AfterHead, target: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The coefficients c and the probabilities p, (V,) float64."""
    logits = reading.logits.double()
    probabilities = torch.softmax(logits, 0)
    error = probabilities.clone()
    error[target] -= 1
    slope = torch.full_like(logits, after.scale.value)
    if after.cap is not None:
        slope = slope * (1 - (logits / after.cap.value) ** 2)
    return error * slope, probabilities
