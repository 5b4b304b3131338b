"""What lies next to a row: by its number, and by its meaning."""

from __future__ import annotations

import pandas as pd
import torch

from tiedviz.compute.unembedding.product import embedding_norms, plain_product
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import require_row


def cosines_to(loaded: LoadedModel, row: int) -> torch.Tensor:
    """The cosine of every row of E with one of them, (V,) float32; 0 where a row is all zeros.

    Raises:
        PromptRefusal: E has fewer rows.
    """
    E = loaded.embedding.detach()
    require_row(row, E.shape[0])
    lengths = embedding_norms(loaded)
    return plain_product(E[row], E) / (lengths * lengths[row]).clamp_min(1e-12)


def next_by_id(loaded: LoadedModel, row: int, around: int = 2) -> pd.DataFrame:
    """The rows numbered just below and above, without the row itself.

    Columns: id, text (as printed), cosine.

    Raises:
        PromptRefusal: E has fewer rows.
    """
    E = loaded.embedding.detach()
    rows = E.shape[0]
    require_row(row, rows)
    near = range(row - around, row + around + 1)
    ids = [id for id in near if 0 <= id < rows and id != row]
    cosine = torch.cosine_similarity(E[ids].float(), E[row][None].float())
    return _frame(loaded, ids, cosine.tolist())


def next_by_meaning(loaded: LoadedModel, row: int, top: int = 4) -> pd.DataFrame:
    """The rows that point most the same way, without the row itself and rows without a token.

    Columns: as above.
    """
    cosine = cosines_to(loaded, row)
    # a damaged row has no direction, and would come first
    among = cosine[: loaded.vocabulary.size].nan_to_num(nan=-2.0)
    if row < len(among):
        among[row] = -2.0
    best = among.topk(min(top, len(among) - 1))
    return _frame(loaded, best.indices.tolist(), cosine[best.indices].tolist())


def _frame(loaded: LoadedModel, ids: list[int], cosine: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": ids,
            "text": [token.shown for token in loaded.vocabulary.tokens(ids)],
            "cosine": cosine,
        }
    )
