"""The layer that was chosen on the page Layers, or named by a link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.layers.controls import LAYER_KEY, layer_slider

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel


def chosen_layer(loaded: LoadedModel) -> int:
    """The layer whose state is read: −1, the model's own answer, unless another was chosen.

    A layer below the last is said in words, with the way back; where none is chosen, nothing is
    drawn.
    """
    from tiedviz.compute.unembedding import unembedding_of

    unembedding = unembedding_of(loaded)
    linked = st.query_params.get(LAYER_KEY, "")
    named = st.session_state.get(LAYER_KEY, int(linked) if re.fullmatch(r"\d{1,4}", linked) else -1)
    if unembedding.path is None or not 0 <= named < unembedding.layers:
        return -1
    layer = layer_slider(loaded)
    if layer == unembedding.layers:
        return -1
    st.info(
        f"You are reading h_{layer}, the state after block {layer} of {unembedding.layers}, "
        "through the logit lens: what the model would answer if it stopped there. "
        "It is not the model's answer.",
        icon=":material/layers:",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Read layer {unembedding.layers}, the model's own answer",
            on_click=_read_the_last,
            args=(unembedding.layers,),
            type="tertiary",
        )
        st.page_link("../pages/layers.py", label="Back to Layers", icon=":material/layers:")
    return layer


def _read_the_last(layers: int) -> None:
    st.session_state[LAYER_KEY] = layers
