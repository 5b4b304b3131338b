"""The tab Neighbours: who is near a token or a sum of tokens, and why dot products make hubs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import map_statistics
from tiedviz.ui.share import csv_button
from tiedviz.ui.token_map.chosen import BY_KEY, MEASURES, MapQuestion, ask_box, choose
from tiedviz.ui.token_map.drawn import Drawn
from tiedviz.words.numbers import count
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel

_TABLE_KEY = "map neighbours"


def neighbours_tab(loaded: LoadedModel, drawn: Drawn, ask: MapQuestion) -> None:
    """Draw it."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        ask_box()
    right.segmented_control(
        "Near by",
        list(MEASURES),
        default="cosine",
        format_func=MEASURES.__getitem__,
        key=BY_KEY,
        required=True,
        persist_state="session",
        help="cosine: direction alone. dot product: direction times both lengths. distance: the "
        "ordinary Euclidean one. All at full width, never in the picture.",
    )
    if ask.near is None:
        return
    st.markdown(_headline(loaded, drawn, ask))
    frame = neighbour_table(drawn, ask)
    _table(loaded.source, frame)
    csv_button(frame, "neighbours")
    st.caption(_why_hubs(loaded))


def _headline(loaded: LoadedModel, drawn: Drawn, ask: MapQuestion) -> str:
    if ask.total is not None:
        return (
            f"Nearest to :orange[{markdown_safe(ask.total.shown)}]. The terms themselves are left "
            "out, as is usual; without that, one of them often comes first. In a sum a bare word "
            "means the token with a space in front, where there is one; id: names any other."
        )
    assert ask.row is not None and ask.near is not None
    rows, ranks = drawn.named.rows, ask.near.self_rank
    shown = markdown_safe(loaded.vocabulary.token(ask.row).shown)
    parts = [f"{count(ranks[measure])} by {MEASURES[measure.value]}" for measure in ranks]
    return (
        f":orange[{shown}] #{ask.row}, {drawn.named.tokens['kind'][ask.row]}, "
        f"‖e‖ = **{float(rows.norms[ask.row]):.4f}**. Among all rows its own row has rank "
        f"{', '.join(parts)}."
    )


def neighbour_table(drawn: Drawn, ask: MapQuestion) -> pd.DataFrame:
    """Columns: rank, id, text, kind, cosine, dot, distance, norm."""
    assert ask.near is not None
    near = ask.near
    tokens = drawn.named.tokens.iloc[near.ids].reset_index(drop=True)
    tokens.insert(0, "rank", range(1, len(tokens) + 1))
    return tokens.assign(
        cosine=near.cosine,
        dot=near.dot,
        distance=near.distance,
        norm=drawn.named.rows.norms[near.ids],
    )


def _table(source: str, frame: pd.DataFrame) -> None:
    column = st.column_config
    columns = {
        "rank": column.NumberColumn("rank", format="%d"),
        "text": column.TextColumn("token"),
        "id": column.NumberColumn("id", format="%d"),
        "kind": column.TextColumn("kind"),
        "cosine": column.NumberColumn("cosine", format="%.3f"),
        "dot": column.NumberColumn("dot", format="%.3f"),
        "distance": column.NumberColumn("distance", format="%.3f"),
        "norm": column.NumberColumn("‖e‖", format="%.3f"),
    }
    ids = frame["id"].tolist()
    st.dataframe(
        frame,
        hide_index=True,
        key=_TABLE_KEY,
        height="content",
        column_order=list(columns),
        column_config=columns,
        on_select=lambda: _take_row(source, ids),
        selection_mode="single-row",
        alt="The nearest rows with cosine, dot product, distance and length",
    )


def _take_row(source: str, ids: list[int]) -> None:
    """Go on to the row that was ticked."""
    chosen = st.session_state[_TABLE_KEY]["selection"]["rows"]
    if chosen and chosen[0] < len(ids):
        choose(source, ids[chosen[0]])


def _why_hubs(loaded: LoadedModel) -> str:
    found = map_statistics(loaded)
    words = (
        f"Cosines start from {found.cosine:.3f} here, the mean of two rows. A dot product is "
        "cosine × ‖a‖ × ‖b‖, so the longest rows come near to everything: hubs. "
    )
    if found.largest_norm > 1.1 * found.least_norm:
        return words + (
            f"Lengths run from {found.least_norm:.2f} to {found.largest_norm:.2f} in this model; "
            "by dot product a longer row may even come before the row itself."
        )
    return words + (
        f"In this model lengths hardly differ ({found.least_norm:.3f} to "
        f"{found.largest_norm:.3f}), so little sets the three measures apart."
    )
