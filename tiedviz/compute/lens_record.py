"""A lens as plain values: the same for the page's export and for the command line."""

from __future__ import annotations

from typing import Any

import torch

from tiedviz.compute.lens import Lens
from tiedviz.compute.next_token.formula import formula_text
from tiedviz.compute.next_token.inspection import prompt_record
from tiedviz.compute.unembedding import reproduced_unembedding
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.prompt import Prompt


def lens_record(loaded: LoadedModel, prompt: Prompt, lens: Lens) -> dict[str, Any]:
    """Everything in the lens, ready for JSON.

    Keys: model, dtype, prompt, tokens, decoder_tokens (None without a decoder), formula,
    max_abs_error, tolerance, notes, layers: for each its `positions`, and for each of those
    entropy (nats), top, and, where tokens are watched, watched (with rank). `text` is the decoded
    text, so that a program can use it.
    """
    _, after = reproduced_unembedding(loaded)
    shares = lens.probabilities, lens.tracked_probabilities if lens.watched else None
    return {
        **prompt_record(loaded, prompt),
        "formula": formula_text(after, tied=loaded.tied),
        "max_abs_error": lens.max_abs_error,
        "tolerance": lens.tolerance,
        "notes": list(prompt.notes),
        "layers": [
            {
                "layer": layer,
                "positions": [
                    _place(loaded, lens, shares, layer, at) for at in range(len(lens.positions))
                ],
            }
            for layer in range(lens.layers + 1)
        ],
    }


def _place(
    loaded: LoadedModel,
    lens: Lens,
    shares: tuple[torch.Tensor, torch.Tensor | None],
    layer: int,
    column: int,
) -> dict[str, Any]:
    """One cell; `shares` are the probabilities of the lens, and of what is watched in it."""
    likely, watched = shares
    place = {
        "position": lens.positions[column],
        "entropy": float(lens.entropy[layer, column]),
        "top": _tokens(
            loaded,
            id=lens.ids[layer, column].tolist(),
            logit=lens.logits[layer, column].tolist(),
            probability=likely[layer, column].tolist(),
        ),
    }
    if watched is not None:
        place["watched"] = _tokens(
            loaded,
            id=list(lens.watched),
            rank=lens.tracked_ranks[layer, column, 1:].tolist(),
            logit=lens.tracked_logits[layer, column, 1:].tolist(),
            probability=watched[layer, column, 1:].tolist(),
        )
    return place


def _tokens(loaded: LoadedModel, *, id: list[int], **columns: list[Any]) -> list[dict[str, Any]]:
    texts = [loaded.vocabulary.token(each).text for each in id]
    rows = zip(id, texts, *columns.values(), strict=True)
    return [dict(zip(("id", "text", *columns), row, strict=True)) for row in rows]
