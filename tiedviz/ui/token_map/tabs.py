"""The four tabs under the map; only the open one is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.token_map.chosen import MapQuestion
from tiedviz.ui.token_map.drawn import Drawn
from tiedviz.ui.token_map.neighbours import neighbours_tab
from tiedviz.ui.token_map.path import path_tab
from tiedviz.ui.token_map.region import region_tab
from tiedviz.ui.token_map.spectrum import spectrum_tab

if TYPE_CHECKING:
    from tiedviz.compute.token_map.path import HiddenPath
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

_TABS = ("Neighbours", "Path of h", "Region", "Spectrum")


def tabs(
    loaded: LoadedModel,
    prompt: Prompt,
    position: int,
    drawn: Drawn,
    ask: MapQuestion,
    path: HiddenPath | None,
) -> None:
    """Draw them."""
    near, states, region, spectrum = st.tabs(list(_TABS), key="map_tab", bind="query-params")
    if near.open:
        with near:
            neighbours_tab(loaded, drawn, ask)
    if states.open:
        with states:
            path_tab(loaded, prompt, position, drawn, path)
    if region.open:
        with region:
            region_tab(drawn)
    if spectrum.open:
        with spectrum:
            spectrum_tab(loaded, drawn, ask)
