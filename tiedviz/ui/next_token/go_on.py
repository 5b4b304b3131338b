"""The prompt continued, token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.continuing import (
    chips_meaning,
    continuation_chips,
    continuation_so_far,
    way_controls,
    write_on,
)
from tiedviz.ui.frame.refusals import show_refusal
from tiedviz.ui.prompt_bar import DECODER_KEY, append_to_prompt
from tiedviz.ui.share import csv_button
from tiedviz.words.refusals.continuation import NoContinuation

if TYPE_CHECKING:
    from tiedviz.compute.continuation import Continuation, Way
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

_RUNNING_KEY = "continuing"


def go_on(loaded: LoadedModel, prompt: Prompt) -> tuple[Continuation, Way] | None:
    """Controls, and under them what the model writes. Returns it, where there is something."""
    st.subheader("Continue", anchor=False)
    if loaded.kind == "masked":
        show_refusal(NoContinuation(loaded.title))
        return None
    way, most = way_controls()
    name = (loaded.key, prompt.text, tuple(prompt.ids), tuple(prompt.decoder_ids or ()), way, most)
    running = st.session_state.get(_RUNNING_KEY) == name
    with st.container(horizontal=True):
        st.button(
            "Continue the prompt",
            icon=":material/play_arrow:",
            disabled=running,
            on_click=_run,
            args=(name,),
        )
        stop = st.empty()
        append = st.empty()
    place, meaning = st.empty(), st.empty()

    def show(found: Continuation) -> None:
        texts = [token.shown for token in loaded.vocabulary.tokens(found.ids)]
        place.html(continuation_chips(texts, found, way.sampled))

    if running:
        stop.button("Stop", icon=":material/stop:", on_click=_run, args=(None,))
        write_on(loaded, prompt, way, most, show)
        st.session_state[_RUNNING_KEY] = None
        st.rerun()
    found = continuation_so_far(loaded.key, prompt, way, most)
    if found is None or not found.tokens:
        meaning.caption("What the model would write after the prompt, and how sure it is of each.")
        return None
    show(found)
    meaning.caption(chips_meaning(way.sampled, found.ended))
    _append_button(append, loaded, prompt, found)
    _table(loaded, found)
    return found, way


def _run(name: object) -> None:
    st.session_state[_RUNNING_KEY] = name


def _append_button(
    place: st.delta_generator.DeltaGenerator,
    loaded: LoadedModel,
    prompt: Prompt,
    found: Continuation,
) -> None:
    raw = b"".join(token.raw for token in loaded.vocabulary.tokens(found.text_ids))
    text = raw.decode("utf-8", "ignore")  # half a character at the end cannot be typed
    place.button(
        "Append to the prompt" if prompt.written is None else "Append to the answer",
        icon=":material/add:",
        disabled=not text,
        on_click=append_to_prompt if prompt.written is None else _append_to_answer,
        args=(text,),
    )


def _append_to_answer(text: str) -> None:
    st.session_state[DECODER_KEY] = (st.session_state.get(DECODER_KEY) or "") + text


def _table(loaded: LoadedModel, found: Continuation) -> None:
    """The same as a table that can be read aloud and taken along."""
    tokens = loaded.vocabulary.tokens(found.ids)
    frame = pd.DataFrame(
        {
            "token": [token.shown for token in tokens],
            "id": found.ids,
            "probability": [token.probability for token in found.tokens],
            "drawn with": [token.drawn for token in found.tokens],
            "rank": [token.rank for token in found.tokens],
        }
    )
    with st.expander("As a table"):
        st.dataframe(
            frame,
            hide_index=True,
            key="continuation table",
            column_config={
                "probability": st.column_config.NumberColumn(format="percent"),
                "drawn with": st.column_config.NumberColumn(format="percent"),
            },
            alt="The tokens of the continuation with their probabilities",
        )
        csv_button(frame, "continuation")
