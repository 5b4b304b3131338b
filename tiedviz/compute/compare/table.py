"""The likeliest texts of several models in one table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tiedviz.compute.compare.agreement import probability_by_text
from tiedviz.compute.compare.shared_tokens import Texts
from tiedviz.words.tokens import visible


def likeliest_texts(
    letters: Sequence[str],
    probabilities: Sequence[np.ndarray],
    texts: Sequence[Texts],
    *,
    top: int = 10,
) -> pd.DataFrame:
    """Every text among the `top` of any model, for every model, the likeliest anywhere first.

    Columns: order (of the text), text (as printed), letter (of the model), probability (not a
    number where the model has no token for it), rank (among the texts of that model, 1 is the
    likeliest; −1 where it has none).
    """
    tables = [
        probability_by_text(each, known) for each, known in zip(probabilities, texts, strict=True)
    ]
    ranked = [sorted(table, key=table.__getitem__, reverse=True) for table in tables]
    union = dict.fromkeys(text for each in ranked for text in each[:top])
    best = sorted(union, key=lambda text: -max(table.get(text, 0.0) for table in tables))
    places = [{text: place for place, text in enumerate(each, 1)} for each in ranked]
    return pd.DataFrame(
        [
            {
                "order": order,
                "text": visible(text),
                "letter": letter,
                "probability": table.get(text, float("nan")),
                "rank": place.get(text, -1),
            }
            for order, text in enumerate(best)
            for letter, table, place in zip(letters, tables, places, strict=True)
        ]
    )
