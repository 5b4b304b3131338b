"""The rows of a vocabulary by name: text, kind, length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tiedviz.compute.token_map.projection import COMPONENTS, Projection, View, fitted_rows, project
from tiedviz.compute.token_map.rows import MapRows, map_rows
from tiedviz.compute.token_map.spread import Spread, spread_of
from tiedviz.compute.token_map.twins import equal_rows
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.map import NothingToMap
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


@dataclass(frozen=True)
class NamedRows:
    """The rows of E with their names.

    Attributes:
        tokens: columns id, text (as printed), kind; see `tokens_of`.
        rows: which of them are finite, and how long they are.
    """

    tokens: pd.DataFrame
    rows: MapRows


@dataclass(frozen=True)
class Facts:
    """What holds for the rows whatever the view.

    Attributes:
        spread: lengths and cosines.
        equal: groups of ids whose rows hold the same numbers.
    """

    spread: Spread
    equal: tuple[np.ndarray, ...]


def named_rows(loaded: LoadedModel) -> NamedRows:
    """Name and measure every row of E."""
    tokens = tokens_of(loaded)
    return NamedRows(tokens, rows_of(loaded, tokens))


def projected(loaded: LoadedModel, named: NamedRows, view: View) -> Projection:
    """All rows of E in one view.

    Raises:
        NothingToMap: fewer than two rows can be placed.
    """
    fitted = fitted_rows(named.rows, view)
    if int(fitted.sum()) < 2:
        raise NothingToMap(loaded.title, len(fitted), int((~fitted).sum()))
    return project(loaded.embedding, named.rows, view)


def facts(loaded: LoadedModel, named: NamedRows) -> Facts:
    """Measure what does not depend on a view."""
    equal = equal_rows(loaded.embedding, named.rows)
    return Facts(spread_of(loaded.embedding, named.rows), tuple(equal))


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
