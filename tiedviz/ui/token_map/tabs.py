"""The four tabs under the map; only the open one is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.charts.token_map import scree
from tiedviz.ui.caches import map_path, map_statistics, scored_state
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame import show_refusal
from tiedviz.ui.share import csv_button
from tiedviz.ui.token_map.drawn import DrawnMap
from tiedviz.ui.token_map.export import still_picture
from tiedviz.ui.token_map.neighbours import MapQuestion, neighbours_tab
from tiedviz.ui.token_map.picture import REGION_KEY
from tiedviz.words.numbers import count, percent, plural
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    import numpy as np

    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.compute.token_map.path import HiddenPath
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


_TABS = ("Neighbours", "Path of h", "Region", "Spectrum")

_LISTED = 8  # rows by each measure that lie nearest to the last state
_SHOWN = 5000  # rows sent to the browser; the file holds all


def tabs(
    loaded: LoadedModel,
    prompt: Prompt,
    position: int,
    drawn: DrawnMap,
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


def states_of(loaded: LoadedModel, prompt: Prompt, position: int) -> HiddenPath | None:
    """h_0 … h_L; None, with the reason on the page, where this model's states are not understood.

    The map of E stands all the same.
    """
    try:
        return map_path(loaded, prompt, position)
    except Refusal as refusal:
        show_refusal(refusal)
        return None


def answer_of(loaded: LoadedModel, prompt: Prompt, position: int) -> int:
    """The row to begin with: the model's own answer, or any row where that is not to be had."""
    try:
        return int(scored_state(loaded, prompt, position).logits.argmax())
    except Refusal:
        return 0


def path_tab(
    loaded: LoadedModel, prompt: Prompt, position: int, drawn: DrawnMap, path: HiddenPath | None
) -> None:
    """Draw it."""
    if path is None:
        return
    read = markdown_safe(prompt.read[position].shown)
    lengths = path.h.norm(dim=1)
    norm = map_statistics(loaded).median_norm
    last = float(lengths[-1])
    st.markdown(
        f"At position {position} ({read}) ‖h_{path.layers[-1]}‖ = **{last:.2f}**, and the median "
        f"row of E has length **{norm:.2f}**"
        + (f": {last / norm:.1f} times as long" if norm > 0 else "")
        + f" ({loaded.dtype})."
    )
    state = scored_state(loaded, prompt, position)
    lists = _lists(loaded, state)
    st.caption(_why_outside(drawn, float(lists["cosine"]["cosine"].iloc[0])))
    if not loaded.tied:
        st.caption(
            ":material/link_off: This model is untied. The points are rows of E, but the states "
            "are scored by W, another matrix: near a point does not mean likely to come next."
        )
    if path.reason:
        st.caption(f":material/info: Only the last state can be had: {markdown_safe(path.reason)}.")
    _nearest(loaded, state, lists)
    _lengths(loaded, path)


def _why_outside(drawn: DrawnMap, best: float) -> str:
    why = (
        "Logits are dot products, so a sure answer takes a long h; only its direction can lie "
        "among the rows."
    )
    if drawn.choice.view == "unit":
        return (
            f"{why} This view divides rows and states by their lengths. Even so no row points the "
            f"same way: the best cosine with the last state is {best:.3f}."
        )
    return f"{why} In this view lengths count, so the last state lies far out: choose “direction”."


def _lists(loaded: LoadedModel, state: ScoredState) -> dict[str, pd.DataFrame]:
    """The rows nearest to the last state, by each measure."""
    from tiedviz.compute.next_token.candidates import By, nearest_tokens

    names = {"dot product (logit)": By.LOGIT, "cosine": By.COSINE, "distance": By.DISTANCE}
    return {name: nearest_tokens(loaded, state, by=by, top=_LISTED) for name, by in names.items()}


def _nearest(loaded: LoadedModel, state: ScoredState, lists: dict[str, pd.DataFrame]) -> None:
    """Three lists beside each other, and whether they agree."""
    table = "E" if loaded.tied else "W, the matrix that scores"
    st.markdown(f"**Rows of {table}, nearest to h_{state.layer}** · {_agreement(lists)}")
    most = max(map(len, lists.values()))
    frame = pd.DataFrame({"rank": range(1, most + 1)})
    for name, found in lists.items():
        texts = [f"{row.text} #{row.id}" for row in found.itertuples()]
        frame[name] = pd.Series(texts)
    st.dataframe(frame, hide_index=True, height="content", key="map nearest to h")
    csv_button(frame, "nearest-to-h")


def _agreement(lists: dict[str, pd.DataFrame]) -> str:
    first = {name: int(found["id"].iloc[0]) for name, found in lists.items()}
    if len(set(first.values())) == 1:
        shared = set.intersection(*(set(found["id"]) for found in lists.values()))
        return f"all three name the same first token; {len(shared)} of {_LISTED} are in every list."
    firsts = ", ".join(f"{markdown_safe(lists[name]['text'].iloc[0])} by {name}" for name in first)
    return f"they disagree: {firsts}. Lengths decide where directions are alike."


def _lengths(loaded: LoadedModel, path: HiddenPath) -> None:
    """The states by length, and by cosine with the last one."""
    import torch

    cosine = torch.nn.functional.cosine_similarity(path.h, path.h[-1:], dim=1)
    frame = pd.DataFrame(
        {
            "layer": path.layers,
            "norm_r": path.residual_norms or [None],
            "norm_h": path.h.norm(dim=1).tolist(),
            "cosine": cosine.tolist(),
        }
    )
    with st.expander(f"All {count(len(frame))} states"):
        st.dataframe(
            frame,
            hide_index=True,
            key="map states",
            column_config={
                "norm_r": st.column_config.NumberColumn("‖r_k‖", format="%.2f"),
                "norm_h": st.column_config.NumberColumn("‖h_k‖", format="%.2f"),
                "cosine": st.column_config.NumberColumn("cosine with h_L", format="%.3f"),
            },
        )
        csv_button(frame, "states")


def region_tab(drawn: DrawnMap) -> None:
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


def _inside(drawn: DrawnMap, region: dict[str, list[float]]) -> np.ndarray:
    """Ids of the drawn rows whose points lie in the rectangle."""
    import numpy as np

    x, y = drawn.points.T
    (left, right), (bottom, top) = region["x"], region["y"]
    with np.errstate(invalid="ignore"):
        inside = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
    return np.flatnonzero(inside & drawn.visible)


def spectrum_tab(loaded: LoadedModel, drawn: DrawnMap, ask: MapQuestion) -> None:
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


def _length_words(loaded: LoadedModel, drawn: DrawnMap) -> str:
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
