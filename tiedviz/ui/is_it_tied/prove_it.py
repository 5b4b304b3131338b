"""Prove it: change one row in a copy, and see which ends of the model move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import residents
from tiedviz.ui.frame.opening import open_button
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.words.numbers import scientific
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.verdict.prove import Proof

_PROMPT = "The capital of France is"


def prove_it_tab(heard: Heard | None) -> None:
    """A token, a button, and what moved."""
    loaded = None if heard is None else residents().get(heard.source.text)
    if loaded is None:
        st.markdown("One changed row moves both ends of a tied model, and only one of an untied.")
        if heard is not None:
            open_button(heard.source, key="open to prove it")
        return
    text = st.text_input(
        "Token to change, or id:123", " Paris", key="prove token", persist_state="session"
    )
    if st.button("Change its row in a copy and run again", icon=":material/science:"):
        _show(loaded, text)
    else:
        st.caption(f"The prompt is “{_PROMPT}”. The copy is thrown away afterwards.")


def _show(loaded: LoadedModel, text: str) -> None:
    from tiedviz.models.prompt import encode, one_token
    from tiedviz.verdict.prove import Side, names_of, prove

    token = one_token(loaded, text)
    ids = encode(loaded, _PROMPT).ids
    if token.id in ids:
        st.warning(
            f"“{_PROMPT}” contains {markdown_safe(token.shown)}, so changing how it is read would "
            "move every score. Choose another token."
        )
        return
    with st.spinner("Running", show_time=True):
        proofs = [prove(loaded, ids, token.id, side=side) for side in Side]
    shown = proofs[:1] if loaded.tied else proofs
    frame = pd.DataFrame([_row(proof) for proof in shown])
    st.dataframe(frame, hide_index=True, alt="What moved when one row was changed")
    name = markdown_safe(token.shown)
    if loaded.tied:
        st.success(
            f"One row of one matrix was changed, and both ends moved: {name} is read differently, "
            f"and its logit moved by {proofs[0].logit_moved:+.3f}. No other token's score did "
            f"(largest change {scientific(proofs[0].others_moved)}).",
            icon=":material/link:",
        )
    elif len(names_of(loaded.model, loaded.scoring_matrix)) > 1:
        st.info(
            f"W is the decoder's own table too: changing the row of {name} there moves its score "
            "and how the decoder reads it. E is the encoder's, and moves only how that reads it.",
            icon=":material/rule:",
        )
    else:
        st.info(
            f"Two matrices: changing the row of {name} in E moves only how it is read, changing it "
            "in W moves only its score.",
            icon=":material/link_off:",
        )


def _row(proof: Proof) -> dict[str, object]:
    return {
        "changed in": "E, which is W too"
        if proof.tied
        else {"input": "E", "output": "W"}[proof.side],
        "input vector moved by": round(proof.input_moved, 4),
        "logit before": round(proof.logit_before, 4),
        "logit after": round(proof.logit_after, 4),
        "logit moved by": round(proof.logit_moved, 4),
        "largest move of another logit": proof.others_moved,
    }
