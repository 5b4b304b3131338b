"""The logit of one token, or the difference of two, written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.charts.next_token import waterfall
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame import show_refusal
from tiedviz.words.numbers import scientific
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.next_token.arithmetic import LogitArithmetic, LogitDifference
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel


def logit_as_arithmetic(loaded: LoadedModel, state: ScoredState, picked: int) -> None:
    """The products of h_L and the token's row, what is done to their sum, the model's number."""
    from tiedviz.compute.next_token.arithmetic import logit_arithmetic
    from tiedviz.compute.unembedding import unembedding_of

    after = unembedding_of(loaded).after
    assert after is not None  # a state is scored only where it was reproduced
    parts = logit_arithmetic(loaded, state, after, picked)
    shown = loaded.vocabulary.token(picked).shown
    at = "" if state.is_last else f" at layer {state.layer}"
    st.subheader(f"The logit of {markdown_safe(shown)}{at}, taken apart", anchor=False)
    left, right = st.columns([6, 5])
    draw(left, waterfall(parts.steps()), key="waterfall")
    with right:
        _write_logit(loaded, state, parts)


def _symbols(loaded: LoadedModel, state: ScoredState) -> tuple[str, str]:
    """What the state and the token's row are called in LaTeX."""
    h = "h_L" if state.is_last else f"h_{{{state.layer}}}"
    return h, "e" if loaded.tied else "w"


def _write_logit(loaded: LoadedModel, state: ScoredState, parts: LogitArithmetic) -> None:
    whose = "The model's own number" if state.is_last else f"The logit of layer {state.layer}"
    h, row = _symbols(loaded, state)
    width = len(parts.terms) + parts.others
    st.latex(
        rf"{h}\cdot {row}_{{{parts.id}}}=\sum_{{i=1}}^{{{width}}} h_i\,{row}_i={parts.dot:.4f}"
    )
    st.latex(
        rf"\|{h}\|\,\|{row}\|\cos\theta={parts.h_norm:.3f}\times{parts.row_norm:.3f}"
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


OPEN_KEY = "difference of two"
_AGAINST_KEY = "against"


def difference_of_two(
    loaded: LoadedModel, state: ScoredState, picked: int, frame: pd.DataFrame
) -> None:
    """h·(e_a − e_b) as a waterfall, for the picked token and another one, once it is opened."""
    box = st.expander(
        "The difference of two tokens",
        icon=":material/compare_arrows:",
        key=OPEN_KEY,
        on_change="rerun",
    )
    if box.open:
        with box:
            _difference(loaded, state, picked, frame)


def _difference(loaded: LoadedModel, state: ScoredState, picked: int, frame: pd.DataFrame) -> None:
    from tiedviz.compute.next_token.arithmetic import logit_difference
    from tiedviz.compute.unembedding import unembedding_of

    after = unembedding_of(loaded).after
    assert after is not None  # a state is scored only where it was reproduced
    other = _other(loaded, picked, frame)
    if other is None:
        return
    parts = logit_difference(loaded, state, after, picked, other)
    left, right = st.columns([6, 5])
    draw(left, waterfall(parts.steps()), key="difference waterfall")
    with right:
        _write_difference(loaded, state, parts)


def _other(loaded: LoadedModel, picked: int, frame: pd.DataFrame) -> int | None:
    """The token to set against the picked one: a candidate, or any that is typed."""
    from tiedviz.models.prompt import one_token

    names = {f"id:{row.id}": f"{row.text} #{row.id}" for row in frame.itertuples()}
    options = [name for name in names if name != f"id:{picked}"]
    before = st.session_state.get(_AGAINST_KEY)
    if before == f"id:{picked}":
        st.session_state[_AGAINST_KEY] = options[0]  # nothing is set against itself
    elif before is not None and before not in options:
        options.append(before)
    chosen = st.selectbox(
        "Against",
        options,
        format_func=lambda name: names.get(name, name),
        key=_AGAINST_KEY,
        accept_new_options=True,
        persist_state="session",
        help="Another of the candidates, or any token: as text, with ␣ for a space in front, or "
        "id: and its row.",
    )
    if chosen is None:
        return None
    try:
        return one_token(loaded, str(chosen).replace("␣", " ")).id
    except Refusal as refusal:
        show_refusal(refusal)
        return None


def _write_difference(loaded: LoadedModel, state: ScoredState, parts: LogitDifference) -> None:
    h, row = _symbols(loaded, state)
    a, b = (loaded.vocabulary.token(id).shown for id in (parts.a, parts.b))
    st.markdown(f":orange[{markdown_safe(a)}] minus {markdown_safe(b)}")
    st.latex(rf"{h}\cdot({row}_{{{parts.a}}}-{row}_{{{parts.b}}})={parts.dot:.4f}")
    if parts.scaled != parts.dot or parts.bias or parts.cap is not None:
        steps = "" if parts.scaled == parts.dot else f", scaled {parts.scaled:+.4f}"
        steps += f", bias {parts.bias:+.4f}" if parts.bias else ""
        steps += f", softcap {parts.capped:+.4f}" if parts.cap is not None else ""
        st.markdown(f"The product {parts.dot:+.4f}{steps}: **{parts.total:+.4f}**")
    if parts.cap is not None:
        st.caption(
            f"tanh bends each logit by itself, so the softcap at {parts.cap:g} takes more from the "
            "larger one; its part is no dot product of h with anything."
        )
    st.markdown(
        f"The two logits as they were read differ by **{parts.own:.4f}** ({loaded.dtype}); the "
        f"arithmetic (float64) is {scientific(abs(parts.total - parts.own))} away."
    )
    st.caption(
        f"Right of zero speaks for {markdown_safe(a)}, left for {markdown_safe(b)}. At temperature "
        "1 the ratio of their probabilities is e to this difference, whatever the other tokens get."
    )
