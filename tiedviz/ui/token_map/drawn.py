"""What the map shows now: its controls, one view on two axes, and four numbers on that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.caches import map_names, map_recall, map_statistics, map_view
from tiedviz.words.numbers import count, percent, plural
from tiedviz.words.token_kinds import TokenKind
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    import numpy as np
    from streamlit.delta_generator import DeltaGenerator

    from tiedviz.compute.token_map import MapView, Projection
    from tiedviz.compute.token_map.projection import Box
    from tiedviz.compute.token_map.recall import NeighbourRecall
    from tiedviz.compute.token_map.rows import NamedRows
    from tiedviz.models.loaded import LoadedModel


VIEW_KEY = "map view"
_AXES_KEY = "map axes"
_VIEWS = {"unit": "direction (unit)", "centred": "centred", "raw": "raw"}
_VIEW_HELP = (
    "direction: rows divided by their lengths, then centred. centred: rows as stored, measured "
    "from the mean row. raw: the same axes, measured from the zero vector."
)

_NAMED = 12  # rows named in one sentence


@dataclass(frozen=True)
class MapChoice:
    """What to draw.

    Attributes:
        view: of the rows.
        axes: two components, from 0.
        empty_rows: whether rows without a token are drawn.
        path: whether the way of h is drawn.
    """

    view: MapView
    axes: tuple[int, int]
    empty_rows: bool
    path: bool


def controls(named: NamedRows, components: int) -> MapChoice:
    """Draw the controls.

    Args:
        named: the rows.
        components: how many components there are at most.
    """
    from tiedviz.compute.token_map import MapView

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        view = st.segmented_control(
            "View",
            list(_VIEWS),
            default="unit",
            format_func=_VIEWS.__getitem__,
            key=VIEW_KEY,
            required=True,
            persist_state="session",
            help=_VIEW_HELP,
        )
        across, up = _axes(components)
        path = st.toggle("path of h", True, key="map path", persist_state="session")
        without = int((~named.rows.with_token).sum())
        empty = without > 0 and st.toggle(
            f"{count(without)} rows without a token", key="map empty rows", persist_state="session"
        )
    return MapChoice(MapView(str(view or "unit")), (across, up), bool(empty), bool(path))


def _axes(components: int) -> tuple[int, int]:
    """Two different components, from 0."""
    options = list(range(components))
    chosen = []
    for place, name in enumerate(("across", "up")):
        key = f"{_AXES_KEY} {name}"
        if st.session_state.get(key, 0) not in options:
            del st.session_state[key]
        chosen.append(
            st.selectbox(
                name,
                options,
                index=min(place, components - 1),
                format_func=lambda component: f"PC{component + 1}",
                key=key,
                width=104,
                persist_state="session",
            )
        )
    return int(chosen[0]), int(chosen[1])


@dataclass(frozen=True)
class DrawnMap:
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


def drawn_map(loaded: LoadedModel) -> DrawnMap:
    """Draw the controls and place all rows as they say.

    Raises:
        VectorRefusal: fewer than two rows can be placed.
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
    return DrawnMap(named, projection, choice, key, points, visible, view_box(points, visible))


def payload_key(*parts: object) -> str:
    """A name for content that these parts determine."""
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=10).hexdigest()


def kind_codes(drawn: DrawnMap) -> np.ndarray:
    """(V,) places in `TokenKind`."""
    return drawn.named.tokens["kind"].cat.codes.to_numpy()


def kind_counts(drawn: DrawnMap) -> list[int]:
    """How many rows of each kind are drawn."""
    import numpy as np

    return np.bincount(kind_codes(drawn)[drawn.visible], minlength=len(TokenKind)).tolist()


def metrics(loaded: LoadedModel, drawn: DrawnMap) -> DeltaGenerator:
    """Draw three of them. Returns the place of the fourth, which takes seconds the first time."""
    found = map_statistics(loaded)
    points, variance, zero, recall = st.columns(4)
    shown = int(drawn.visible.sum())
    with points:
        st.metric("Points drawn", count(shown))
        left = len(drawn.visible) - shown
        st.caption("Every row of E, none sampled." if not left else f"{count(left)} left out.")
    with variance:
        parts = drawn.projection.spectrum[list(drawn.choice.axes)]
        st.metric("Variance shown", percent(float(parts.sum())))
        st.caption(f"On these two axes, of {count(len(drawn.projection.spectrum))} components.")
    with zero:
        st.metric("Zero line", f"{found.cosine:.3f}")
        st.caption(
            f"Mean cosine of two rows: “alike” begins above it. {found.centred_cosine:.3f} once "
            "the mean row is taken off."
        )
    return recall


def fill_recall(place: DeltaGenerator, loaded: LoadedModel, drawn: DrawnMap) -> None:
    """The fourth number; called last, so that the page stands before it is computed."""
    with place:
        with st.spinner("Comparing neighbourhoods", show_time=True):
            recall = map_recall(loaded, drawn.choice.view, drawn.choice.axes)
        st.metric("Neighbours kept", percent(recall.share))
        st.caption(_recall_words(recall))


def _recall_words(recall: NeighbourRecall) -> str:
    among = (
        f"of the {recall.nearest} nearest rows at full width are among the {recall.nearest} here"
    )
    low, high = (percent(end).replace(" ", "\u00a0") for end in (recall.low, recall.high))
    if recall.low == recall.high:
        return f"{among}; all rows asked."
    return f"{among}: {low} to {high} with 95 % confidence, {count(recall.anchors)} rows asked."


def left_out(loaded: LoadedModel, drawn: DrawnMap) -> None:
    """What is not drawn, what lies outside the view, and what lies on one spot: each by name."""
    lines = []
    rows = drawn.named.rows
    for mask, why in (
        (~rows.finite, "not finite, left out"),
        (rows.zero, "of length 0" + (", no direction" if drawn.choice.view == "unit" else "")),
        (~rows.with_token & rows.finite, "without a token"),
    ):
        ids = mask.nonzero()[0]
        if len(ids):
            lines.append(f"{plural(len(ids), 'row')} {why}: {_names(drawn, ids)}")
    outside = drawn.box.outside
    if len(outside):
        verb = "lies" if len(outside) == 1 else "lie"
        lines.append(
            f"{plural(len(outside), 'outlier')} {verb} outside the first view, the farthest by "
            f"{drawn.box.excess[0]:.1f} times its side: {_names(drawn, outside)}"
        )
    equal = map_statistics(loaded).duplicates
    if equal:
        together = sum(len(group) for group in equal)
        lines.append(
            f"{plural(len(equal), 'group')} of equal rows, {count(together)} rows in all, the "
            f"largest {count(len(equal[0]))}: {_names(drawn, equal[0])}"
        )
    for line in lines:
        st.caption(f":material/info: {line}.")


def _names(drawn: DrawnMap, ids: np.ndarray) -> str:
    shown = [f"{drawn.named.tokens['text'][id]} #{id}" for id in ids[:_NAMED]]
    rest = len(ids) - len(shown)
    return markdown_safe(", ".join(shown)) + (f" and {count(rest)} more" if rest else "")
