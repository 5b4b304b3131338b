"""Which view, which two components, and what is drawn besides tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.words.numbers import count

if TYPE_CHECKING:
    from tiedviz.compute.token_map import MapView
    from tiedviz.compute.token_map.rows import NamedRows

VIEW_KEY = "map view"
_AXES_KEY = "map axes"
_VIEWS = {"unit": "direction (unit)", "centred": "centred", "raw": "raw"}
_VIEW_HELP = (
    "direction: rows divided by their lengths, then centred. centred: rows as stored, measured "
    "from the mean row. raw: the same axes, measured from the zero vector."
)


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
