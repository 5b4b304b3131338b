"""What the map shows now: the rows of one view on two of its axes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tiedviz.ui.caches import map_names, map_view
from tiedviz.ui.token_map.controls import MapChoice, controls
from tiedviz.ui.token_map.payload import payload_key
from tiedviz.words.numbers import percent
from tiedviz.words.token_kinds import TokenKind

if TYPE_CHECKING:
    import numpy as np

    from tiedviz.compute.token_map import Projection
    from tiedviz.compute.token_map.projection import Box
    from tiedviz.compute.token_map.rows import NamedRows
    from tiedviz.models.loaded import LoadedModel


@dataclass(frozen=True)
class Drawn:
    """The picture before it is one.

    Attributes:
        named: the rows with their names.
        projection: the view.
        choice: what the controls say.
        key: names these points in the browser.
        points: (V, 2) float32, NaN where a row has no place.
        visible: (V,) which rows are drawn.
        box: the part of the plane that is drawn first.
    """

    named: NamedRows
    projection: Projection
    choice: MapChoice
    key: str
    points: np.ndarray
    visible: np.ndarray
    box: Box

    @property
    def short_axes(self) -> tuple[str, str]:
        """As in PC1 and PC2."""
        across, up = self.choice.axes
        return f"PC{across + 1}", f"PC{up + 1}"

    @property
    def axes(self) -> tuple[str, str]:
        """The same with their parts of the variance."""
        parts = [percent(float(self.projection.spectrum[axis])) for axis in self.choice.axes]
        across, up = self.short_axes
        return f"{across} ({parts[0]})", f"{up} ({parts[1]})"


def drawn_map(loaded: LoadedModel) -> Drawn:
    """Draw the controls and place all rows as they say.

    Raises:
        NothingToMap: fewer than two rows can be placed.
    """
    import numpy as np

    from tiedviz.compute.token_map.projection import COMPONENTS, view_box

    named = map_names(loaded)
    usable, width = int(named.rows.usable.sum()), loaded.embedding.shape[1]
    choice = controls(named, max(1, min(COMPONENTS, usable, width)))
    projection = map_view(loaded, choice.view)
    # a view without rows of length 0 may have fewer components than the controls offer
    last = projection.coordinates.shape[1] - 1
    across, up = (min(axis, last) for axis in choice.axes)
    choice = replace(choice, axes=(across, up))
    points = projection.coordinates[:, choice.axes]
    visible = np.isfinite(points).all(axis=1)
    if not choice.empty_rows:
        visible &= named.rows.with_token
    key = payload_key("points", loaded.key, choice.view.value, choice.axes)
    return Drawn(named, projection, choice, key, points, visible, view_box(points, visible))


def kind_codes(drawn: Drawn) -> np.ndarray:
    """(V,) places in `TokenKind`."""
    return drawn.named.tokens["kind"].cat.codes.to_numpy()


def kind_counts(drawn: Drawn) -> list[int]:
    """How many rows of each kind are drawn."""
    import numpy as np

    return np.bincount(kind_codes(drawn)[drawn.visible], minlength=len(TokenKind)).tolist()
