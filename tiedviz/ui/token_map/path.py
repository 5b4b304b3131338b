"""The tab Path of h: where the states of a prompt lie, and which tokens they are nearest to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import map_facts, map_path, scored_state
from tiedviz.ui.frame import show_refusal
from tiedviz.ui.share import csv_button
from tiedviz.ui.token_map.drawn import Drawn
from tiedviz.words.numbers import count
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.compute.token_map.path import HiddenPath
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

_LISTED = 8


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
    loaded: LoadedModel, prompt: Prompt, position: int, drawn: Drawn, path: HiddenPath | None
) -> None:
    """Draw it."""
    if path is None:
        return
    read = markdown_safe(prompt.read[position].shown)
    lengths = path.h.norm(dim=1)
    norm = map_facts(loaded).spread.median_norm
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


def _why_outside(drawn: Drawn, best: float) -> str:
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
