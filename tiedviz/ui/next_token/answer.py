"""What the model answers, and the proof that h_L and the matrix say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.words.numbers import count, percent, scientific
from tiedviz.words.tokens import Token, markdown_safe, readable, shorten

if TYPE_CHECKING:
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def headline(loaded: LoadedModel, prompt: Prompt, reading: ScoredState) -> None:
    """`The opposite of hot is → ␣cold 68.1 %`, at temperature 1."""
    from tiedviz.compute.next_token.ranking import likeliest

    best, probability = likeliest(reading)
    question = markdown_safe(_question(loaded, prompt, reading))
    answer = f":orange[{markdown_safe(loaded.vocabulary.token(best).shown)}] {percent(probability)}"
    lens = "" if reading.layer == reading.layers else f"  (layer {reading.layer} would say)"
    st.subheader(f"{question} → {answer}{lens}", anchor=False)


def _question(loaded: LoadedModel, prompt: Prompt, reading: ScoredState) -> str:
    """What was read: the text so far; the whole text, where a gap in it is filled."""
    if loaded.kind == "masked":
        return shorten(_text(prompt.tokens), 60)
    written = _text(prompt.read[: reading.position + 1])
    if prompt.written is None:
        return shorten(written, 60)
    return f"{shorten(_text(prompt.tokens), 40)} ⇒ {shorten(written, 30)}"


def _text(tokens: Sequence[Token]) -> str:
    return readable(b"".join(token.raw for token in tokens))


def proof(loaded: LoadedModel, reading: ScoredState) -> None:
    """The formula of this model's logits, and how close it comes to the model's own."""
    from tiedviz.compute.next_token.formula import formula_latex, formula_notes
    from tiedviz.compute.next_token.ranking import mass_without_token
    from tiedviz.compute.unembedding import unembedding_of

    unembedding = unembedding_of(loaded)
    assert unembedding.after is not None  # a reading exists only where it was reproduced
    left, right = st.columns([2, 5], vertical_alignment="center")
    own = reading.layer == reading.layers
    left.latex(formula_latex(unembedding.after, tied=loaded.tied, state=reading.name))
    rows = loaded.scoring_matrix.shape[0]
    product = "this product" if own else "this product of h_L"
    sentence = (
        f"max |Δ| = **{scientific(reading.max_abs_error)}** between {product} and the model's "
        f"own {count(rows)} logits, limit {scientific(reading.tolerance)} ({loaded.dtype})."
    )
    if not own:
        sentence += f" That is layer {reading.layers}; the numbers below are of {reading.name}."
    notes = "; ".join(formula_notes(unembedding, reading.layer))
    right.caption(f"{sentence}  \nHere {markdown_safe(notes)}.")
    if not reading.agrees:
        st.warning("The product differs from the model by more than rounding: believe the model.")
    if mass := mass_without_token(loaded, reading):
        spare = rows - loaded.vocabulary.size
        st.caption(f"{count(spare)} rows have no token; the model gives them {percent(mass)}.")
