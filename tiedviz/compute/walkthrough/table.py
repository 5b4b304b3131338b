"""A small part of E, as the numbers it holds."""

from __future__ import annotations

import pandas as pd

from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import require_row


def rows_around(
    loaded: LoadedModel, row: int, *, around: int = 4, columns: int = 32
) -> pd.DataFrame:
    """The first numbers of the rows next to `row`, one line of the frame for each number.

    Columns: row, label (the token as printed), column, value, lit (whether it is `row`).

    Raises:
        PromptRefusal: E has fewer rows.
    """
    E = loaded.embedding.detach()
    rows, width = E.shape
    require_row(row, rows)
    first = max(0, min(row - around, rows - 2 * around - 1))
    ids = range(first, min(rows, first + 2 * around + 1))
    values = E[first : ids.stop, : min(columns, width)].float().cpu()
    labels = [token.shown for token in loaded.vocabulary.tokens(list(ids))]
    return pd.DataFrame(
        [
            (id, label, column, float(value), id == row)
            for id, label, line in zip(ids, labels, values, strict=True)
            for column, value in enumerate(line)
        ],
        columns=["row", "label", "column", "value", "lit"],
    )
