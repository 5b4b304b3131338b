"""Which layer, which positions, which tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.frame import show_refusal
from tiedviz.ui.prompt_bar import POSITION_KEY, choose_position
from tiedviz.words.refusals import Refusal

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

LAYER_KEY = "layer"
WATCH_KEY = "watch"
WATCHED_AT_MOST = 5
_FIRST_KEY = "first position shown"
_WIDTH = 12  # more columns than this leave no room for their tokens


def layer_slider(loaded: LoadedModel) -> int:
    """The layer under inspection, from 0 to L; a click on a cell moves it as well."""
    from tiedviz.compute.unembedding import unembedding_of

    last = unembedding_of(loaded).layers
    if not 0 <= st.session_state.get(LAYER_KEY, last) <= last:
        st.session_state[LAYER_KEY] = last  # another model had more layers
    return int(
        st.slider(
            "Layer under inspection",
            0,
            last,
            last,
            key=LAYER_KEY,
            bind="query-params",
            help="0 is what enters the first block; the last is the model's own answer. "
            "A click on a cell chooses its layer and position.",
        )
    )


def window(prompt: Prompt, position: int) -> tuple[int, ...]:
    """The positions that are drawn: all up to twelve, else twelve that hold `position`."""
    length = len(prompt.read)
    if length <= _WIDTH:
        return tuple(range(length))
    last = length - _WIDTH
    first = st.session_state.get(_FIRST_KEY, -1)
    if not (0 <= first <= last and first <= position < first + _WIDTH):
        st.session_state[_FIRST_KEY] = min(last, max(0, position - _WIDTH + 1))
    first = st.slider(
        f"First of the {_WIDTH} positions shown, of {length}",
        0,
        last,
        key=_FIRST_KEY,
        persist_state="session",
        on_change=_follow,
        args=(prompt.place,),
    )
    return tuple(range(int(first), int(first) + _WIDTH))


def _follow(place: int) -> None:
    """Keep the position under inspection among those shown, when others are."""
    first = st.session_state[_FIRST_KEY]
    chosen = st.session_state.get(POSITION_KEY, -1)
    inside = min(max(place if chosen == -1 else chosen, first), first + _WIDTH - 1)
    choose_position(-1 if inside == place else inside)


def watched_tokens(loaded: LoadedModel) -> tuple[int, ...]:
    """Ids of the tokens to follow through the layers, besides the final answer.

    What is typed and is no token of this model is refused in words; the others still count.
    """
    from tiedviz.models.prompt import one_token

    typed = _watch_box()
    ids = []
    for text in typed[:WATCHED_AT_MOST]:
        try:
            ids.append(one_token(loaded, text.replace("␣", " ")).id)
        except Refusal as refusal:
            show_refusal(refusal)
    return tuple(dict.fromkeys(ids))


def _watch_box() -> list[str]:
    named = st.query_params.get_all(WATCH_KEY)
    current = list(dict.fromkeys([*st.session_state.get(WATCH_KEY, []), *named]))
    return list(
        st.multiselect(
            "Watch tokens",
            current,
            key=WATCH_KEY,
            bind="query-params",
            accept_new_options=True,
            max_selections=WATCHED_AT_MOST,
            placeholder="␣London, or id:123: up to five besides the final answer",
            help="A token as text, with ␣ for a space in front, or id: and its row. "
            "Press Enter after each.",
        )
    )
