"""Try both heads: one state, read by E and by the stored output matrix, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.caches import residents, scored_state
from tiedviz.ui.frame.opening import open_button
from tiedviz.ui.is_it_tied.heard import Heard

if TYPE_CHECKING:
    import torch

    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel


def both_heads_tab(heard: Heard | None) -> None:
    """Top five of each, for a prompt."""
    loaded = None if heard is None else residents().get(heard.source.text)
    if heard is None or loaded is None:
        st.markdown("One state, read by the embedding and by the stored output matrix.")
        if heard is not None:
            open_button(heard.source, key="open to try both heads")
        return
    if loaded.tied:
        st.info("There is one matrix, so there is one answer.", icon=":material/link:")
        return
    prompt = st.text_input(
        "Prompt", "The capital of France is", key="both heads prompt", persist_state="session"
    )
    _show(loaded, prompt)


def _show(loaded: LoadedModel, text: str) -> None:
    from tiedviz.models.prompt import encode

    prompt = encode(loaded, text)
    state = scored_state(loaded, prompt, prompt.place)
    left, right = st.columns(2)
    with left:
        st.markdown("**Through W**, as the model does")
        _top(loaded, state, loaded.scoring_matrix)
    with right:
        st.markdown("**Through E**, as a loader that drops the head would")
        if loaded.embedding.shape == loaded.scoring_matrix.shape:
            _top(loaded, state, loaded.embedding)
        else:
            st.caption("E has another shape than W, so it cannot take its place.")


def _top(loaded: LoadedModel, state: ScoredState, matrix: torch.Tensor) -> None:
    from tiedviz.compute.unembedding import unembedding_of
    from tiedviz.verdict.both_heads import through

    after = unembedding_of(loaded).after
    assert after is not None  # a reading exists only where it was reproduced
    column = st.column_config
    st.dataframe(
        through(loaded, state, after, matrix),
        hide_index=True,
        column_order=["text", "id", "logit", "probability"],
        column_config={
            "text": column.TextColumn("token"),
            "logit": column.NumberColumn(format="%.2f"),
            "probability": column.NumberColumn(format="%.4f"),
        },
        alt="The five tokens this matrix gives for the state",
    )
