"""The tokens nearest to a state: by logit, by cosine, by distance, and where these disagree."""

from __future__ import annotations

from enum import StrEnum

import pandas as pd
import torch

from tiedviz.compute.next_token.any_vector import Scored
from tiedviz.compute.next_token.state import ScoredState
from tiedviz.compute.unembedding.product import row_norms
from tiedviz.models.loaded import LoadedModel


class By(StrEnum):
    """What "nearest" means."""

    LOGIT = "logit"  # the model's own answer
    COSINE = "cosine"  # direction alone
    DISTANCE = "distance"  # ordinary Euclidean distance


def nearest_tokens(
    loaded: LoadedModel,
    reading: ScoredState | Scored,
    *,
    by: By = By.LOGIT,
    top: int = 10,
    temperature: float = 1.0,
) -> pd.DataFrame:
    """The `top` rows of the scoring matrix nearest to h, nearest first.

    A row that no token uses (a padded vocabulary has some) scores as a logit, since the model may
    choose it, but is nobody's neighbour by cosine or distance.

    Columns: rank, id, text (as printed), piece, bytes (hex), logit, probability (softmax over all
    V of logit / temperature), cosine, distance (‖h − e‖), norm (‖e‖), rank_logit, rank_cosine,
    rank_distance (1 is nearest; the last two among rows that have a token).
    """
    scores = _scores(loaded, reading)
    tokens = loaded.vocabulary.size
    competing = {
        name: values if name is By.LOGIT else values[:tokens] for name, values in scores.items()
    }
    ids = torch.topk(competing[by], min(top, len(competing[by]))).indices
    distance = _exact_distances(loaded, reading, ids)
    if by is By.DISTANCE:
        order = distance.argsort(stable=True)
        ids, distance = ids[order], distance[order]
    log_total = torch.logsumexp(reading.logits.double() / temperature, 0)
    shown = loaded.vocabulary.tokens(ids.tolist())
    frame = pd.DataFrame(
        {
            "rank": range(1, len(shown) + 1),
            "id": ids.tolist(),
            "text": [token.shown for token in shown],
            "piece": [token.piece for token in shown],
            "bytes": [token.hex for token in shown],
            "logit": reading.logits[ids].tolist(),
            "probability": (reading.logits[ids].double() / temperature - log_total).exp().tolist(),
            "cosine": scores[By.COSINE][ids].tolist(),
            "distance": distance.tolist(),
            "norm": row_norms(loaded)[ids].tolist(),
        }
    )
    for name, values in scores.items():
        # one comparison for each token shown is far cheaper than sorting the whole vocabulary
        frame[f"rank_{name.value}"] = [
            int(torch.count_nonzero(competing[name] > values[id])) + 1 for id in ids
        ]
    return frame


def likeliest(reading: ScoredState | Scored) -> tuple[int, float]:
    """The token with the largest logit, and its probability over all V at temperature 1."""
    best = int(reading.logits.argmax())
    logits = reading.logits.double()
    return best, float((logits[best] - torch.logsumexp(logits, 0)).exp())


def _scores(loaded: LoadedModel, reading: ScoredState | Scored) -> dict[By, torch.Tensor]:
    """Three scores for each row, (V,), larger is nearer.

    All three come from the one product: cos = h·e / ‖h‖‖e‖, and ‖h − e‖² = ‖h‖² − 2 h·e + ‖e‖².
    """
    norms = row_norms(loaded)
    h_norm = reading.h.norm()
    cosine = reading.product / (norms * h_norm).clamp_min(1e-12)
    distance = -(h_norm**2 - 2 * reading.product + norms**2).clamp_min(0).sqrt()
    return {By.LOGIT: reading.logits, By.COSINE: cosine, By.DISTANCE: distance}


def _exact_distances(
    loaded: LoadedModel, reading: ScoredState | Scored, ids: torch.Tensor
) -> torch.Tensor:
    """‖h − e‖ of a few rows, float64: near a row the expanded square is all rounding."""
    rows = loaded.scoring_matrix.detach()[ids].cpu().double()
    return (rows - reading.h.double()).norm(dim=1)


def mass_without_token(loaded: LoadedModel, reading: ScoredState) -> float:
    """The probability the model gives to rows that no token uses (padded vocabularies)."""
    return mass_beyond(reading.logits, loaded.vocabulary.size)


def mass_beyond(logits: torch.Tensor, tokens: int) -> float:
    """The probability of rows beyond the tokenizer's, from the logits of one position, (V,)."""
    if tokens >= len(logits):
        return 0.0
    return float(torch.softmax(logits.detach().double(), dim=-1)[tokens:].sum())
