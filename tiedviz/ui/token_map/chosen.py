"""Which token, or which sum of tokens, the map is asked about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.frame import show_refusal
from tiedviz.words.refusals import Refusal

if TYPE_CHECKING:
    from tiedviz.compute.token_map import Neighbours
    from tiedviz.compute.token_map.table import NamedRows
    from tiedviz.compute.token_map.walks import Walk
    from tiedviz.models.loaded import LoadedModel

TOKEN_KEY = "token"
PICKED_KEY = "map token"  # (model, row): a row of one model says nothing about another
ASK_KEY = "map ask"
BY_KEY = "map by"
MEASURES = {"cosine": "cosine", "dot": "dot product", "l2": "distance"}
TOP = 10


@dataclass(frozen=True)
class Asked:
    """The question and its answer.

    Attributes:
        row: the token, or None where a sum was asked for.
        walk: the sum, or None.
        near: the nearest rows; None where the question was refused.
    """

    row: int | None
    walk: Walk | None
    near: Neighbours | None


def asked(loaded: LoadedModel, named: NamedRows, default: int) -> Asked:
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
    row, walk = _question(loaded, default)
    matrix = loaded.embedding
    try:
        if walk is not None:
            vector = walk.vector(matrix)
            near = neighbours_of_vector(
                matrix, named.rows, vector, by=by, top=TOP, left_out=walk.ids
            )
            return Asked(None, walk, near)
        assert row is not None
        return Asked(row, None, neighbours_of(matrix, named.rows, row, by=by, top=TOP))
    except Refusal as refusal:
        show_refusal(refusal)
        return Asked(row, walk, None)


def _question(loaded: LoadedModel, default: int) -> tuple[int | None, Walk | None]:
    from tiedviz.compute.token_map.walks import is_walk, named_token, read_walk

    row = _take_link(loaded)
    typed = str(st.session_state[ASK_KEY] or "")
    if typed.strip():
        try:
            if is_walk(typed):
                return None, read_walk(loaded, typed)
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
