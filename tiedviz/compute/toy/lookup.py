"""Reading a row: as a product with a one-hot vector, and what an id does and does not say."""

from __future__ import annotations

import numpy as np
import pandas as pd


def one_hot(rows: int, row: int) -> np.ndarray:
    """(rows,): 1 at `row`, 0 elsewhere."""
    vector = np.zeros(rows)
    vector[row] = 1.0
    return vector


def zero_share(rows: int) -> float:
    """The part of the products in one_hot·E that multiply by zero: (V − 1)/V."""
    return (rows - 1) / rows


def neighbours(words: tuple[str, ...], E: np.ndarray, row: int) -> pd.DataFrame:
    """All other rows, the most alike first.

    Columns: id, word, cosine (0 where a row is all zeros), ids_apart.
    """
    lengths = np.linalg.norm(E, axis=1)
    scale = lengths * lengths[row]
    cosine = np.divide(E @ E[row], scale, out=np.zeros(len(E)), where=scale > 0)
    frame = pd.DataFrame(
        {
            "id": range(len(E)),
            "word": words,
            "cosine": cosine,
            "ids_apart": np.abs(np.arange(len(E)) - row),
        }
    )
    return frame[frame["id"] != row].sort_values("cosine", ascending=False, ignore_index=True)
