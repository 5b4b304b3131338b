"""Whether a model that goes on with a text also reads what comes after a position: measured."""

from __future__ import annotations

import torch

from tiedviz.compute.forward import forward
from tiedviz.compute.unembedding.measure import probe_ids
from tiedviz.models.loaded import LoadedModel, ModelKind

# Many roundings: what a library adds up in another order moves a logit by a few.
_ROUNDINGS = 1000


def later_tokens_move(loaded: LoadedModel) -> float | None:
    """By how much another last token moves the logits before it, at most; 0.0 within rounding.

    No list of architectures says it: a fixed probe is read twice, the second time with another last
    token. Where earlier logits differ, the model has seen that token at them, as XLNet does without
    a permutation mask: what it gives there is no prediction of the next token.

    Once for each model. The caller holds the model's lock. None for models that are not asked for
    the next token of what they read (masked ones, encoder–decoder models).
    """
    if loaded.kind is not ModelKind.CAUSAL:
        return None
    if "later tokens move" not in loaded.memo:
        loaded.memo["later tokens move"] = _measured(loaded)
    return float(loaded.memo["later tokens move"])


def _measured(loaded: LoadedModel) -> float:
    ids = probe_ids(loaded)
    other = [*ids[:-1], (ids[-1] + 1) % loaded.embedding.shape[0]]
    one, two = (forward(loaded.model, each).logits[0, :-1].float() for each in (ids, other))
    rounding = torch.finfo(loaded.scoring_matrix.dtype).eps * max(1.0, float(one.abs().max()))
    moved = float((one - two).abs().max())
    return moved if moved > _ROUNDINGS * rounding else 0.0
