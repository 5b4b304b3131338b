"""The rows of a vocabulary by name: text, kind, length."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tiedviz.compute.token_map.projection import COMPONENTS, Projection
from tiedviz.compute.token_map.rows import MapRows, map_rows
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.token_kinds import Kind, kind_of


def tokens_of(loaded: LoadedModel) -> pd.DataFrame:
    """One row for each row of E, in order.

    Columns: id, text (as printed), kind (of `token_kinds.Kind`, categorical in its order).
    """
    vocabulary = loaded.vocabulary
    ids = range(loaded.embedding.shape[0])
    with loaded.lock:
        tokens = vocabulary.tokens(list(ids))
    kinds = pd.Categorical.from_codes(
        [_CODE[kind_of(token, vocabulary.alphabet)] for token in tokens],
        categories=[kind.value for kind in Kind],
    )
    return pd.DataFrame({"id": ids, "text": [token.shown for token in tokens], "kind": kinds})


_CODE = {kind: code for code, kind in enumerate(Kind)}


def rows_of(loaded: LoadedModel, tokens: pd.DataFrame) -> MapRows:
    """What is known of each row of E, with the tokens that `tokens_of` found."""
    return map_rows(loaded.embedding, (tokens["kind"] != Kind.NO_TOKEN.value).to_numpy())


def coordinate_table(
    tokens: pd.DataFrame, rows: MapRows, projection: Projection, chosen: np.ndarray | None = None
) -> pd.DataFrame:
    """Coordinates with names.

    Columns: id, text, kind, norm, pc1 … pc10. A coordinate is missing where the row cannot be
    placed, and in all rows where E has fewer components.

    Args:
        tokens: from `tokens_of`.
        rows: from `rows_of`.
        projection: the view.
        chosen: ids of the rows wanted, None for all.
    """
    ids = np.arange(len(tokens)) if chosen is None else np.asarray(chosen)
    table = tokens.iloc[ids].assign(norm=rows.norms[ids]).reset_index(drop=True)
    have = projection.coordinates.shape[1]
    for component in range(COMPONENTS):
        missing = np.full(len(ids), np.nan, np.float32)
        values = projection.coordinates[ids, component] if component < have else missing
        table[f"pc{component + 1}"] = values
    return table
