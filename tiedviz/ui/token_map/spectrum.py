"""The tab Spectrum: how much each component holds, and the map as a still picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.charts.token_map import raster, raster_chart, scree
from tiedviz.ui.caches import map_statistics
from tiedviz.ui.drawing import draw
from tiedviz.ui.share import csv_button
from tiedviz.ui.token_map.chosen import MapQuestion
from tiedviz.ui.token_map.drawn import Drawn, kind_codes
from tiedviz.words.numbers import count, percent

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel


def spectrum_tab(loaded: LoadedModel, drawn: Drawn, ask: MapQuestion) -> None:
    """Draw it."""
    spectrum = drawn.projection.spectrum
    lit = [axis + 1 for axis in drawn.choice.axes]
    draw(
        st,
        scree(spectrum, lit),
        key="map scree",
        alt="Each component's part of the variance, largest first; the two on the map are lit",
    )
    half = int((spectrum.cumsum() < 0.5).sum()) + 1
    st.caption(
        f"Amber, with a diamond: the two on the map. It takes {count(half)} of "
        f"{count(len(spectrum))} components to hold half of the variance; the ten with coordinates "
        f"hold {percent(float(spectrum[:10].sum()))}."
    )
    st.caption(_length_words(loaded, drawn))
    parts = pd.DataFrame({"component": range(1, len(spectrum) + 1), "part": spectrum})
    csv_button(parts, "spectrum")
    still_picture(drawn, ask)


def _length_words(loaded: LoadedModel, drawn: Drawn) -> str:
    """Whether the first axis only says how long a row is."""
    import numpy as np

    rows = drawn.visible
    lengths = drawn.named.rows.norms[rows].astype(np.float64)
    found = map_statistics(loaded)
    if found.mean_norm == 0:
        return "Every row is zero."
    words = (
        f"‖mean row‖ is {found.mean_length / found.mean_norm:.2f} of the mean length: so far do "
        "all rows point the same way."
    )
    across = drawn.projection.coordinates[rows, 0]
    if lengths.std() == 0 or across.std() == 0:
        return words
    related = float(np.corrcoef(across, lengths)[0, 1])
    return f"{words} Correlation of PC1 with ‖e‖: **{related:.2f}**" + (
        ": in this view the first axis mostly says how long a row is."
        if abs(related) > 0.7
        else "."
    )


def still_picture(drawn: Drawn, ask: MapQuestion) -> None:
    """The same points without a canvas, with the chosen token and its neighbours named."""
    ids = ([] if ask.row is None else [ask.row]) + (
        [] if ask.near is None else ask.near.ids.tolist()
    )
    ids = [id for id in ids if drawn.visible[id]]
    named = pd.DataFrame(
        {
            "id": ids,
            "text": drawn.named.tokens["text"].iloc[ids].tolist(),
            "x": drawn.points[ids, 0].tolist(),
            "y": drawn.points[ids, 1].tolist(),
        }
    )
    with st.expander("The map as a still picture"):
        chart = raster_chart(still_png(drawn), drawn.box.low, drawn.box.high, drawn.axes, named)
        draw(st, chart, key="map still")


def still_png(drawn: Drawn) -> bytes:
    """The whole view as a PNG with a clear background."""
    return raster(drawn.points, kind_codes(drawn), drawn.visible, drawn.box.low, drawn.box.high)
