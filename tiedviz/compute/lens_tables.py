"""A lens as tables for the page, and as plain values for the export and the command line."""

from __future__ import annotations

from typing import Any

import pandas as pd
import torch

from tiedviz.compute.lens import Lens
from tiedviz.compute.next_token.candidates import prompt_record
from tiedviz.compute.next_token.formula import formula_text
from tiedviz.compute.unembedding import reproduced_unembedding
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.prompt import Prompt


def cells(lens: Lens, loaded: LoadedModel) -> pd.DataFrame:
    """One row for each layer and position: what that layer would say there.

    Columns: layer, position, id, text (as printed), logit, probability, entropy (nats), norm
    (‖r_k‖), final_id, final_text, final_rank and final_probability (of that position's own final
    answer).
    """
    vocabulary = loaded.vocabulary
    count = len(lens.positions)
    first = lens.ids[..., 0].flatten().tolist()
    final = lens.final.tolist() * (lens.layers + 1)
    return pd.DataFrame(
        {
            "layer": [layer for layer in range(lens.layers + 1) for _ in range(count)],
            "position": list(lens.positions) * (lens.layers + 1),
            "id": first,
            "text": [token.shown for token in vocabulary.tokens(first)],
            "logit": lens.logits[..., 0].flatten().tolist(),
            "probability": lens.probabilities[..., 0].flatten().tolist(),
            "entropy": lens.entropy.flatten().tolist(),
            "norm": lens.norms.flatten().tolist(),
            "final_id": final,
            "final_text": [token.shown for token in vocabulary.tokens(final)],
            "final_rank": lens.tracked_ranks[..., 0].flatten().tolist(),
            "final_probability": lens.tracked_probabilities[..., 0].flatten().tolist(),
        }
    )


def lines(lens: Lens, loaded: LoadedModel, position: int) -> pd.DataFrame:
    """One row for each tracked token and layer, at one position; the final answer comes first.

    A watched token that is the final answer is listed once. Columns: order (of the tokens), id,
    text (as printed), final (whether it is the answer), layer, rank, logit, probability.
    """
    column = lens.positions.index(position)
    tokens = [int(lens.final[column]), *lens.watched]
    wanted = [at for at, id in enumerate(tokens) if tokens.index(id) == at]
    shown = loaded.vocabulary.tokens([tokens[at] for at in wanted])
    frames = [
        pd.DataFrame(
            {
                "order": order,
                "id": token.id,
                "text": token.shown,
                "final": at == 0,
                "layer": range(lens.layers + 1),
                "rank": lens.tracked_ranks[:, column, at].tolist(),
                "logit": lens.tracked_logits[:, column, at].tolist(),
                "probability": lens.tracked_probabilities[:, column, at].tolist(),
            }
        )
        for order, (at, token) in enumerate(zip(wanted, shown, strict=True))
    ]
    return pd.concat(frames, ignore_index=True)


def best(lens: Lens, loaded: LoadedModel, layer: int, position: int) -> pd.DataFrame:
    """The largest logits of one cell. Columns: rank, id, text (as printed), logit, probability."""
    column = lens.positions.index(position)
    ids = lens.ids[layer, column].tolist()
    return pd.DataFrame(
        {
            "rank": range(1, len(ids) + 1),
            "id": ids,
            "text": [token.shown for token in loaded.vocabulary.tokens(ids)],
            "logit": lens.logits[layer, column].tolist(),
            "probability": lens.probabilities[layer, column].tolist(),
        }
    )


def first_appearance(lens: Lens, position: int) -> tuple[int, int]:
    """The first layer at which the final answer has rank 1, and the one from which it keeps it."""
    leads = (lens.tracked_ranks[:, lens.positions.index(position), 0] == 1).tolist()
    behind = [layer for layer, lead in enumerate(leads) if not lead]
    return leads.index(True), behind[-1] + 1 if behind else 0


def given_back(lens: Lens, read_ids: list[int], layer: int = 0) -> int:
    """At how many positions a layer's first token is the very token that stands there."""
    says = lens.ids[layer, :, 0].tolist()
    return sum(said == read_ids[at] for said, at in zip(says, lens.positions, strict=True))


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
