"""Logits and probabilities of the toy, with every dot product written out."""

from __future__ import annotations

import numpy as np
import pandas as pd

TOY_WORDS = ("cat", "dog", "the", "ran")
TOY_E = ((0.2, 0.3, -0.9), (0.6, -0.5, -0.4), (0.1, 0.3, 0.8), (0.7, 0.2, -0.5))
TOY_H = (0.5, 0.2, -0.3)
TOY_W = ((0.4, -0.6, 0.2), (-0.3, 0.5, 0.7), (0.8, 0.1, -0.2), (-0.5, 0.3, 0.1))
"""What an output matrix of its own might hold, for showing what "untied" means."""


def toy_scores(
    words: list[str], E: np.ndarray, h: np.ndarray, temperature: float = 1.0
) -> pd.DataFrame:
    """One row for each word: word, products (as text), logit (e·h), probability (softmax).

    Args:
        words: V names.
        E: (V, d).
        h: (d,).
        temperature: what logits are divided by before softmax, above 0.
    """
    logits = E @ h
    weights = np.exp((logits - logits.max()) / temperature)
    return pd.DataFrame(
        {
            "word": words,
            "products": [
                " + ".join(f"{_factor(a)}·{_factor(b)}" for a, b in zip(h, row, strict=True))
                for row in E
            ],
            "logit": logits,
            "probability": weights / weights.sum(),
        }
    )


def _factor(number: float) -> str:
    """A number as a factor: in brackets where it is negative."""
    return f"(−{-number:g})" if number < 0 else f"{number:g}"
