"""A prompt inspected: the same numbers for the page's export and for the command line."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tiedviz.compute.next_token.formula import formula_text
from tiedviz.compute.next_token.ranking import By, nearest_tokens
from tiedviz.compute.next_token.state import ScoredState
from tiedviz.compute.unembedding import reproduced_unembedding
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.prompt import Prompt
from tiedviz.words.tokens import Token

_TOP = ("rank", "id", "text", "logit", "probability", "cosine", "distance")


def inspection(
    loaded: LoadedModel,
    prompt: Prompt,
    reading: ScoredState,
    *,
    top: int = 10,
    by: By = By.LOGIT,
    temperature: float = 1.0,
    nearest: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """Tokens, h, formula, error and the `top` next tokens, as plain values ready for JSON.

    `nearest` is the table of `nearest_tokens` with these settings, where there is one already.

    Keys: model, dtype, prompt, tokens, decoder_tokens (None without a decoder), h, formula,
    max_abs_error, tolerance, notes, by (what the nearest were chosen by), temperature (of the
    probabilities), top. `text` is the decoded text here, not the printed form, so
    that a program can use it.
    """
    _, after = reproduced_unembedding(loaded)
    if nearest is None:
        nearest = nearest_tokens(loaded, reading, by=by, top=top, temperature=temperature)
    columns = {name: nearest[name].tolist() for name in _TOP}
    columns["text"] = [loaded.vocabulary.token(id).text for id in columns["id"]]
    return {
        **prompt_record(loaded, prompt),
        "h": {
            "norm": float(reading.h.norm()),
            "width": len(reading.h),
            "layer": reading.layer,
            "position": reading.position,
        },
        "formula": formula_text(after, tied=loaded.tied, state=reading.name),
        "max_abs_error": reading.max_abs_error,
        "tolerance": reading.tolerance,
        "notes": list(prompt.notes),
        "by": by.value,
        "temperature": temperature,
        "top": [dict(zip(_TOP, row, strict=True)) for row in zip(*columns.values(), strict=True)],
    }


def prompt_record(loaded: LoadedModel, prompt: Prompt) -> dict[str, Any]:
    """What was asked of which model: model, dtype, prompt, tokens, decoder_tokens."""
    written = prompt.written
    return {
        "model": loaded.source,
        "dtype": loaded.dtype,
        "prompt": prompt.text,
        "tokens": [token_record(token) for token in prompt.tokens],
        "decoder_tokens": None if written is None else [token_record(token) for token in written],
    }


def token_record(token: Token) -> dict[str, Any]:
    """A token as plain values: id, text (decoded), piece, bytes (hex)."""
    return {"id": token.id, "text": token.text, "piece": token.piece, "bytes": token.hex}
