"""The model of the sidebar, as a point of the chart."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tiedviz.models.sources import HubSource, ShelfSource
from tiedviz.ui.frame.model_choice import chosen_facts, chosen_source
from tiedviz.words.catalogue import CatalogueRow, find_row, row_of_shape
from tiedviz.words.refusals import Refusal


@dataclass(frozen=True)
class ChosenPoint:
    """Where the chosen model lies.

    Attributes:
        title: what it is called.
        V, d: rows and width of E.
        parameters: of the whole model.
        tables: the part of them in E, and in W where that is another matrix.
        origin: where the numbers come from, as a clause.
        row: its row in the catalogue, or that of a model of the same shape; None where there is
            none.
    """

    title: str
    V: int
    d: int
    parameters: int
    tables: tuple[float, ...]
    origin: str
    row: CatalogueRow | None

    @property
    def share(self) -> float:
        """The part of the parameters in all tables."""
        return sum(self.tables)

    @property
    def tied(self) -> bool:
        """Whether one table does both jobs."""
        return len(self.tables) == 1


def chosen_point() -> ChosenPoint | None:
    """The chosen model; None while nothing is known of it, or where it names nothing.

    What is wrong with the choice is said in the sidebar.
    """
    try:
        source = chosen_source()
        listed = find_row(source.repo) if isinstance(source, HubSource) else None
        if listed is not None:
            return _in_the_catalogue(listed)
        facts = chosen_facts(source)
    except Refusal:
        return None
    if facts is None or facts.V is None or facts.d is None or facts.share is None:
        return None
    row = None
    if isinstance(source, ShelfSource):
        model = source.model
        row = row_of_shape(model.V, model.d, model.layers, model.parameters, like=model.origin)
    read = facts.V * facts.d / facts.parameters
    tables = (facts.share,) if facts.stores_one_table else (read, facts.share - read)
    return ChosenPoint(source.title, facts.V, facts.d, facts.parameters, tables, facts.origin, row)


def _in_the_catalogue(row: CatalogueRow) -> ChosenPoint:
    origin = "published config, not read from a file"
    tables = [row.parts.embedding_share]
    if not row.tied:
        tables.append(row.parts.head / row.total)
    return ChosenPoint(row.name, row.V, row.d, row.total, tuple(tables), origin, row)


def ring_of(point: ChosenPoint | None) -> pd.DataFrame:
    """None or one row: title, parameters, share."""
    rows = [] if point is None else [(point.title, point.parameters, point.share)]
    return pd.DataFrame(rows, columns=["title", "parameters", "share"])
