"""The tab Region: the tokens in a rectangle, as a table to download."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.share import csv_button
from tiedviz.ui.token_map.drawn import Drawn
from tiedviz.ui.token_map.picture import REGION_KEY
from tiedviz.words.numbers import count, plural

if TYPE_CHECKING:
    import numpy as np

_SHOWN = 5000  # rows sent to the browser; the file holds all


def region_tab(drawn: Drawn) -> None:
    """Draw it: the rectangle that was dragged on these axes, or how to drag one."""
    region = st.session_state.get(REGION_KEY)
    if not region or region.get("points") != drawn.key:
        st.info(
            "Press “region” above the map and drag a rectangle, or hold Shift and drag. On the "
            "keyboard, R takes what is in view.",
            icon=":material/select:",
        )
        return
    from tiedviz.compute.token_map.projection import coordinate_table

    ids = _inside(drawn, region)
    table = coordinate_table(drawn.named, drawn.projection, ids)
    kinds = table["kind"].value_counts()
    parts = ", ".join(f"{count(int(n))} {kind}" for kind, n in kinds.items() if n)
    st.markdown(
        f"**{plural(len(table), 'token')}** in the rectangle" + (f": {parts}." if parts else ".")
    )
    st.dataframe(
        table.head(_SHOWN),
        hide_index=True,
        height=320,
        key="map region table",
        column_order=["id", "text", "kind", "norm", *(axis.lower() for axis in drawn.short_axes)],
        alt="The tokens in the rectangle with kind, length and coordinates",
    )
    if len(table) > _SHOWN:
        st.caption(f"The first {count(_SHOWN)} are listed; the file holds all.")
    csv_button(table, "region")


def _inside(drawn: Drawn, region: dict[str, list[float]]) -> np.ndarray:
    """Ids of the drawn rows whose points lie in the rectangle."""
    import numpy as np

    x, y = drawn.points.T
    (left, right), (bottom, top) = region["x"], region["y"]
    with np.errstate(invalid="ignore"):
        inside = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
    return np.flatnonzero(inside & drawn.visible)
