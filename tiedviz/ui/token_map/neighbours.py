"""Which token or sum of tokens is asked about, and the tab Neighbours: who is near it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import map_statistics
from tiedviz.ui.frame import show_refusal
from tiedviz.ui.share import csv_button
from tiedviz.ui.token_map.drawn import DrawnMap
from tiedviz.words.numbers import count
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.token_map import Neighbours
    from tiedviz.compute.token_map.neighbours import VectorSum
    from tiedviz.compute.token_map.rows import NamedRows
    from tiedviz.models.loaded import LoadedModel


TOKEN_KEY = "token"
PICKED_KEY = "map token"  # (model, row): a row of one model says nothing about another
ASK_KEY = "map ask"
BY_KEY = "map by"
MEASURES = {"cosine": "cosine", "dot": "dot product", "l2": "distance"}
TOP = 10

_TABLE_KEY = "map neighbours"


@dataclass(frozen=True)
class MapQuestion:
    """The question and its answer.

    Attributes:
        row: the token, or None where a sum was asked for.
        total: the sum, or None.
        near: the nearest rows; None where the question was refused.
    """

    row: int | None
    total: VectorSum | None
    near: Neighbours | None


def asked(loaded: LoadedModel, named: NamedRows, default: int) -> MapQuestion:
    """The row and its neighbours, as typed, clicked or linked; a refusal is shown in its place.

    What is typed counts first; a click empties the box.

    Args:
        loaded: the model.
        named: its rows.
        default: the row to begin with.
    """
    from tiedviz.compute.token_map import Measure, neighbours_of
    from tiedviz.compute.token_map.neighbours import neighbours_of_vector

    by = Measure(str(st.session_state.get(BY_KEY) or "cosine"))
    row, total = _question(loaded, default)
    matrix = loaded.embedding
    try:
        if total is not None:
            vector = total.vector(matrix)
            near = neighbours_of_vector(
                matrix, named.rows, vector, by=by, top=TOP, left_out=total.ids
            )
            return MapQuestion(None, total, near)
        assert row is not None
        return MapQuestion(row, None, neighbours_of(matrix, named.rows, row, by=by, top=TOP))
    except Refusal as refusal:
        show_refusal(refusal)
        return MapQuestion(row, total, None)


def _question(loaded: LoadedModel, default: int) -> tuple[int | None, VectorSum | None]:
    from tiedviz.compute.token_map.neighbours import is_sum, named_token, read_sum

    row = _take_link(loaded)
    typed = str(st.session_state[ASK_KEY] or "")
    if typed.strip():
        try:
            if is_sum(typed):
                return None, read_sum(loaded, typed)
            return named_token(loaded, typed).id, None
        except Refusal as refusal:
            show_refusal(refusal)
    return (default if row is None else row), None


def _take_link(loaded: LoadedModel) -> int | None:
    """The row that was clicked on this model, or that the link names when the page is opened."""
    linked = st.query_params.get(TOKEN_KEY, "")
    number = re.fullmatch(r"[0-9]{1,9}", linked)
    picked = st.session_state.get(PICKED_KEY)
    if ASK_KEY not in st.session_state:
        st.session_state[ASK_KEY] = "" if number or picked else linked
    if picked is None and number:
        picked = st.session_state[PICKED_KEY] = (loaded.source, int(linked))
    if picked is None:
        return None
    source, row = picked
    if source != loaded.source and number:
        st.query_params.pop(TOKEN_KEY, None)
    return row if source == loaded.source and row < loaded.embedding.shape[0] else None


def ask_box() -> None:
    """The box to type a token or a sum in."""
    st.text_input(
        "Token, or a sum of tokens",
        key=ASK_KEY,
        persist_state="session",
        placeholder="␣king, id:123, or: king − man + woman",
        on_change=_write_link,
        help="A token as text, with ␣ for a space in front, or id: and its row. A sum has signs "
        "with a space on both sides. A click on the map empties this box.",
    )


def _write_link() -> None:
    typed = str(st.session_state.get(ASK_KEY) or "").strip()
    picked = st.session_state.get(PICKED_KEY)
    if typed:
        st.query_params[TOKEN_KEY] = typed
    elif picked is not None:
        st.query_params[TOKEN_KEY] = str(picked[1])
    else:
        st.query_params.pop(TOKEN_KEY, None)


def choose(source: str, row: int) -> None:
    """Make a row of a model the one asked about."""
    st.session_state[PICKED_KEY] = (source, int(row))
    st.session_state[ASK_KEY] = ""
    st.query_params[TOKEN_KEY] = str(int(row))


def neighbours_tab(loaded: LoadedModel, drawn: DrawnMap, ask: MapQuestion) -> None:
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


def _headline(loaded: LoadedModel, drawn: DrawnMap, ask: MapQuestion) -> str:
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


def neighbour_table(drawn: DrawnMap, ask: MapQuestion) -> pd.DataFrame:
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
