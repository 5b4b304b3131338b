"""The logit of one token, written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.next_token import waterfall
from tiedviz.ui.drawing import draw
from tiedviz.words.numbers import scientific
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.next_token.arithmetic import LogitArithmetic
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel


def logit_as_arithmetic(loaded: LoadedModel, reading: ScoredState, picked: int) -> None:
    """The products of h_L and the token's row, what is done to their sum, the model's number."""
    from tiedviz.compute.next_token.arithmetic import logit_arithmetic
    from tiedviz.compute.unembedding import unembedding_of

    after = unembedding_of(loaded).after
    assert after is not None  # a reading exists only where it was reproduced
    parts = logit_arithmetic(loaded, reading, after, picked)
    shown = loaded.vocabulary.token(picked).shown
    at = "" if reading.layer == reading.layers else f" at layer {reading.layer}"
    st.subheader(f"The logit of {markdown_safe(shown)}{at}, taken apart", anchor=False)
    left, right = st.columns([6, 5])
    draw(left, waterfall(parts.steps()), key="waterfall")
    with right:
        _written_out(parts, loaded, reading)


def _written_out(parts: LogitArithmetic, loaded: LoadedModel, reading: ScoredState) -> None:
    own = reading.layer == reading.layers
    whose = "The model's own number" if own else f"The logit of layer {reading.layer}"
    state = "h_L" if own else f"h_{{{reading.layer}}}"
    row = "e" if loaded.tied else "w"
    width = len(parts.terms) + parts.others
    st.latex(
        rf"{state}\cdot {row}_{{{parts.id}}}=\sum_{{i=1}}^{{{width}}} h_i\,{row}_i={parts.dot:.4f}"
    )
    st.latex(
        rf"\|{state}\|\,\|{row}\|\cos\theta={parts.h_norm:.3f}\times{parts.row_norm:.3f}"
        rf"\times{parts.cosine:.4f}"
    )
    if parts.total != parts.dot:
        st.latex(_model_steps(parts))
    st.markdown(
        f"{whose}: **{parts.model_logit:.4f}** ({loaded.dtype}); "
        f"the arithmetic (float64) is {scientific(abs(parts.total - parts.model_logit))} away."
    )
    st.caption(
        f"The {len(parts.terms)} largest of {width} products are drawn one by one, "
        f"the other {parts.others} as one bar."
    )


def _model_steps(parts: LogitArithmetic) -> str:
    """What the model does to the dot product, with this token's numbers."""
    inner = f"{parts.dot:.4f}"
    if parts.scale != 1.0:
        inner = rf"{parts.scale:.6g}\times{inner}"
    if parts.bias:
        inner = f"{inner}{parts.bias:+.4f}"
    if parts.cap is not None:
        inner = rf"{parts.cap:g}\tanh\left(\frac{{{inner}}}{{{parts.cap:g}}}\right)"
    return rf"z_{{{parts.id}}}={inner}={parts.total:.4f}"
