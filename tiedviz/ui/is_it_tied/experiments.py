"""Experiments: change a row, break a model, read one state by two heads, compare with the base."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.models.sources import find_source
from tiedviz.ui.caches import model_pool, scored_state
from tiedviz.ui.frame.model_choice import chosen_source
from tiedviz.ui.frame.opened_model import open_button
from tiedviz.ui.is_it_tied.audit_state import open_or_offer
from tiedviz.ui.is_it_tied.verdict import banner
from tiedviz.verdict.audit import Audit, hear_files
from tiedviz.verdict.break_one import BREAKS, tiny_tied_folder
from tiedviz.words.numbers import count, scientific
from tiedviz.words.shelf import FIRST_ON_SHELF
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    import torch

    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.verdict.comparisons import AgainstBase
    from tiedviz.verdict.prove import Proof

_PROMPT = "The capital of France is"


def prove_it_tab(audit: Audit | None) -> None:
    """Change one row in a copy: a token, a button, and what moved."""
    why = "One changed row moves both ends of a tied model, and only one of an untied."
    loaded = open_or_offer(audit, "open to prove it", why)
    if loaded is None:
        return
    text = st.text_input(
        "Token to change, or id:123", " Paris", key="prove token", persist_state="session"
    )
    if st.button("Change its row in a copy and run again", icon=":material/science:"):
        _show_proof(loaded, text)
    else:
        st.caption(f"The prompt is “{_PROMPT}”. The copy is thrown away afterwards.")


def _show_proof(loaded: LoadedModel, text: str) -> None:
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
    frame = pd.DataFrame([_proof_row(proof) for proof in shown])
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


def _proof_row(proof: Proof) -> dict[str, object]:
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


def break_one_tab(audit: Audit | None) -> None:
    """Pick a way to break it, and read the verdict on what came out."""
    st.markdown(
        "A two-block Llama of width 16 with 50 rows, tied, is built in a temporary folder. "
        "Do to it what happens to real checkpoints:"
    )
    how = st.segmented_control(
        "What to do",
        list(BREAKS),
        format_func=lambda name: BREAKS[name].title,
        key="break",
        label_visibility="collapsed",
    )
    if how is None:
        return
    with tempfile.TemporaryDirectory() as name, st.spinner("Building it", show_time=True):
        _break(str(how), Path(name))


def _break(how: str, folder: Path) -> None:
    BREAKS[how].apply(tiny_tied_folder(folder))
    verdict = Audit(*hear_files(folder)).verdict
    st.caption(f"{markdown_safe(BREAKS[how].story)} Before, the verdict was *tied*; now:")
    banner(verdict)
    for row in verdict.evidence[:2]:
        st.markdown(f"**{row.witness}**: {markdown_safe(row.state)}. {markdown_safe(row.text)}")
    _fresh_rows(folder)


def _fresh_rows(folder: Path) -> None:
    """Name rows that look freshly added."""
    from safetensors.torch import load_file

    from tiedviz.verdict.live import fresh_rows

    table = load_file(folder / "model.safetensors")["model.embed_tokens.weight"]
    if (found := fresh_rows(table)) is not None:
        st.caption(markdown_safe(found.words))


def both_heads_tab(audit: Audit | None) -> None:
    """One state, read by E and by the stored output matrix: the top five of each, for a prompt."""
    why = "One state, read by the embedding and by the stored output matrix."
    loaded = open_or_offer(audit, "open to try both heads", why)
    if loaded is None:
        return
    if loaded.tied:
        st.info("There is one matrix, so there is one answer.", icon=":material/link:")
        return
    prompt = st.text_input(
        "Prompt", "The capital of France is", key="both heads prompt", persist_state="session"
    )
    _show_heads(loaded, prompt)


def _show_heads(loaded: LoadedModel, text: str) -> None:
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
    from tiedviz.verdict.comparisons import through

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


def against_base_tab(audit: Audit | None) -> None:
    """A box for the model this one was made from, and the rows that changed or moved most."""
    st.markdown("Compare E with the E of the model this one was made from.")
    base_name = st.text_input(
        "Base model",
        key="base",
        placeholder=f"a Hub id, a path, {FIRST_ON_SHELF.name}",
        persist_state="session",
    )
    if audit is None or not base_name:
        return
    base_source = find_source(base_name)
    for source in (chosen_source(), base_source):
        if model_pool().get(source.text) is None:
            open_button(source, key=f"open {source.text} to compare")
            return
    now, base = model_pool().get(audit.model), model_pool().get(base_source.text)
    if now is not None and base is not None:
        _show_base(now, base, audit)


def _show_base(now: LoadedModel, base: LoadedModel, audit: Audit) -> None:
    from tiedviz.verdict.comparisons import against_base

    if now.embedding.shape[1] != base.embedding.shape[1]:
        st.warning("Their widths differ, so one was not made from the other.")
        return
    found = against_base(now.embedding, base.embedding)
    labels = ("unchanged", "changed", "added", "removed")
    for column, label in zip(st.columns(4), labels, strict=True):
        column.metric(f"rows {label}", count(getattr(found, label)))
    if found.identical and audit.stored is not None and audit.stored.head is None:
        st.warning(
            "No row of E moved and no head is stored: if this model was fine-tuned, a trained head "
            "may have been lost.",
            icon=":material/warning:",
        )
    _moved_rows(found, now)


def _moved_rows(found: AgainstBase, now: LoadedModel) -> None:
    if found.moved.empty:
        return
    tokens = [now.vocabulary.token(row).shown for row in found.moved["row"]]
    st.dataframe(
        found.moved.assign(token=tokens),
        hide_index=True,
        column_order=["token", "row", "distance", "relative", "cosine"],
        alt="The rows that moved most",
    )
