"""A few tokens through the layers, at the position under inspection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.lens_lines import MEASURES, lens_lines
from tiedviz.ui.drawing import draw
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.lens import Lens
    from tiedviz.models.loaded import LoadedModel


def through_the_layers(loaded: LoadedModel, found: Lens, layer: int, position: int) -> None:
    """The lines of the final answer and of the watched tokens, with a switch; where it appears."""
    from tiedviz.compute.lens_tables import lines

    st.subheader("The final answer through the layers", anchor=False)
    st.markdown(_appearance(loaded, found, position))
    measure = st.segmented_control(
        "Show",
        list(MEASURES),
        default="rank",
        key="lens measure",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    frame, shown = lines(found, loaded, position), str(measure or "rank")
    draw(
        st,
        lens_lines(frame, shown, layer),
        key="lens lines",
        alt=f"The {shown} of the final answer and of the watched tokens at layers 0 to "
        f"{found.layers}",
    )


def _appearance(loaded: LoadedModel, found: Lens, position: int) -> str:
    """Where the final answer first comes first, and from where on it stays there."""
    from tiedviz.compute.lens_tables import first_appearance

    first, stays = first_appearance(found, position)
    answer = loaded.vocabulary.token(int(found.final[found.positions.index(position)])).shown
    named = f"At position {position} the model ends in :orange[{markdown_safe(answer)}]."
    if first == stays:
        return f"{named} It comes first from **layer {first}** of {found.layers} on."
    return (
        f"{named} It first comes first at **layer {first}**, loses the place again, and keeps it "
        f"from **layer {stays}** of {found.layers} on."
    )
