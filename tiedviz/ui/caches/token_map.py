"""The rows of E as points, and the way of a state among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.caches.states import Ids, ids_of

if TYPE_CHECKING:
    from tiedviz.compute.token_map import Projection, View
    from tiedviz.compute.token_map.kept import Kept as KeptNeighbours
    from tiedviz.compute.token_map.kept import TrueNeighbours
    from tiedviz.compute.token_map.path import HiddenPath
    from tiedviz.compute.token_map.table import Facts, NamedRows
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def map_names(loaded: LoadedModel) -> NamedRows:
    """The rows of E with their names."""
    return _map_names(loaded.key, loaded)


@st.cache_resource(max_entries=3, show_spinner="Naming every row of E …")
def _map_names(key: str, _loaded: LoadedModel) -> NamedRows:
    from tiedviz.compute.token_map.table import named_rows

    return named_rows(_loaded)


def map_view(loaded: LoadedModel, view: View) -> Projection:
    """All rows of E in one view.

    Raises:
        NothingToMap: fewer than two rows can be placed.
    """
    return _map_view(loaded.key, view.value, loaded)


@st.cache_resource(max_entries=6, show_spinner="Finding the axes of all rows …")
def _map_view(key: str, view: str, _loaded: LoadedModel) -> Projection:
    from tiedviz.compute.token_map import View
    from tiedviz.compute.token_map.table import projected

    return projected(_loaded, map_names(_loaded), View(view))


def map_facts(loaded: LoadedModel) -> Facts:
    """What holds for the rows whatever the view."""
    return _map_facts(loaded.key, loaded)


@st.cache_resource(max_entries=12, show_spinner=False)
def _map_facts(key: str, _loaded: LoadedModel) -> Facts:
    from tiedviz.compute.token_map.table import facts

    return facts(_loaded, map_names(_loaded))


def map_payload(loaded: LoadedModel) -> bytes:
    """The names as the browser takes them."""
    return _map_payload(loaded.key, loaded)


@st.cache_resource(max_entries=3, show_spinner=False)
def _map_payload(key: str, _loaded: LoadedModel) -> bytes:
    from tiedviz.ui.token_map.payload import names_payload

    return names_payload(key, map_names(_loaded))


def map_kept(loaded: LoadedModel, view: View, axes: tuple[int, int]) -> KeptNeighbours:
    """How many of the true neighbours the picture keeps."""
    return _map_kept(loaded.key, view.value, axes, loaded)


@st.cache_resource(max_entries=48, show_spinner=False)
def _map_kept(key: str, view: str, axes: tuple[int, int], _loaded: LoadedModel) -> KeptNeighbours:
    from tiedviz.compute.token_map import View
    from tiedviz.compute.token_map.kept import kept_in_picture

    projection = map_view(_loaded, View(view))
    true = _map_true_neighbours(key, projection.view is View.UNIT, _loaded)
    return kept_in_picture(projection.coordinates[:, axes], projection.fitted, true)


@st.cache_resource(max_entries=12, show_spinner=False)
def _map_true_neighbours(key: str, direction: bool, _loaded: LoadedModel) -> TrueNeighbours:
    from tiedviz.compute.token_map import View
    from tiedviz.compute.token_map.kept import true_neighbours

    rows = map_names(_loaded).rows
    fitted = map_view(_loaded, View.UNIT if direction else View.CENTRED).fitted
    return true_neighbours(_loaded.embedding, rows, fitted, direction=direction)


def map_path(loaded: LoadedModel, prompt: Prompt, position: int) -> HiddenPath:
    """The path of one position, computed once, with the same yield point as a reading."""
    with loaded.lock:
        st.empty()  # as above
        return _map_path(loaded.key, ids_of(prompt), position, loaded)


@st.cache_resource(max_entries=24, show_spinner=False)
def _map_path(key: str, ids: Ids, position: int, _loaded: LoadedModel) -> HiddenPath:
    from tiedviz.compute.token_map.path import hidden_path

    prompt, written = ids
    return hidden_path(_loaded, prompt, position, decoder_ids=written)
