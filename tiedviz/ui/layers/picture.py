"""The picture: layers up, positions across, in each cell the token that layer would say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.lens import PICK, lens_cells, shades
from tiedviz.ui.drawing import draw
from tiedviz.ui.layers.controls import LAYER_KEY
from tiedviz.ui.prompt_bar import choose_position

if TYPE_CHECKING:
    import pandas as pd

    from tiedviz.compute.lens import Lens
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

_CHART_KEY = "lens cells"
_HELP = {
    "rank": "Darker: the answer that this column ends in stands higher among all tokens already.",
    "probability": "Darker: this layer is surer of the token it shows, right or wrong.",
    "entropy": "Darker: this layer's probability lies on fewer tokens.",
}


def picture(
    loaded: LoadedModel, prompt: Prompt, found: Lens, layer: int, position: int
) -> pd.DataFrame:
    """Draw it. A click on a cell makes its state the one under inspection. Returns the cells."""
    from tiedviz.compute.lens_tables import cells

    ways = shades(loaded.scoring_matrix.shape[0])
    chosen = st.segmented_control(
        "Colour by",
        list(ways),
        default="rank",
        key="lens colour",
        required=True,
        persist_state="session",
        help="rank: of the final answer of that column. probability and entropy: of what the "
        "layer itself would say.",
    )
    by, frame = str(chosen or "rank"), cells(found, loaded)
    read = [prompt.read[each].shown for each in found.positions]
    place = prompt.place
    draw(
        st,
        lens_cells(frame, ways[by], read, (layer, position)),
        key=_CHART_KEY,
        alt=f"Layers 0 to {found.layers} upwards, positions across; in each cell the token that "
        "layer would say there",
        on_select=lambda: _take_cell(place),
    )
    st.caption(f"{_HELP[by]} Click a cell to look into it; its edge turns amber.")
    return frame


def _take_cell(place: int) -> None:
    """Make the clicked cell the one under inspection.

    Args:
        place: the position that is read where nobody chooses, which links call −1.
    """
    chosen = st.session_state[_CHART_KEY]["selection"].get(PICK) or []
    if chosen:
        position = int(chosen[0]["position"])
        st.session_state[LAYER_KEY] = int(chosen[0]["layer"])
        choose_position(-1 if position == place else position)
