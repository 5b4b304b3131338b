"""One state through two matrices: what each would say comes next."""

from __future__ import annotations

import pandas as pd
import torch

from tiedviz.compute.next_token.state import ScoredState
from tiedviz.compute.unembedding import AfterHead
from tiedviz.compute.unembedding.product import plain_product
from tiedviz.models.loaded import LoadedModel


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
