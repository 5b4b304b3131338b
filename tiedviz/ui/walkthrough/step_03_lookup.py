"""Step 3: lookup is a matrix multiply that nobody carries out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from tiedviz.charts.palette import LIVE, OTHER
from tiedviz.compute.toy import Toy, one_hot, zero_share
from tiedviz.ui.frame.opened_model import opened_or_invited
from tiedviz.ui.walkthrough.halves import real_token, toy_editor, word_pills
from tiedviz.ui.walkthrough.step import Numbers, Question, Step
from tiedviz.words.numbers import count, percent, scientific
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.walkthrough_rows import LookupTimed

_TIMED_KEY = "lookup timed"


def _toy_half() -> None:
    """One-hot times E, zeros greyed; the transpose defined; the gradient."""
    toy = toy_editor(state=False)
    row = word_pills(toy, "One-hot of")
    st.latex(_product(toy, row))
    wasted = (toy.V - 1) * toy.d
    st.caption(
        f"Grey: multiplied by 0. That is {wasted} of {toy.V * toy.d} products, (V − 1)/V = "
        f"{percent(zero_share(toy.V))}. Reading row {row} gives the same with none of them."
    )
    st.markdown("**The gradient.** If the row's three numbers should change by g, E gets")
    st.latex(_gradient(toy, row))
    st.caption("A product can be differentiated, so the table can be learned; but only this row.")
    with st.expander("The transpose, defined", icon=":material/flip:"):
        st.latex(r"E^{\mathsf T}[i, j] = E[j, i]")
        st.latex(rf"E^{{\mathsf T}} = {_matrix(toy.E.T, lit_column=row)}")
        st.caption(
            "Rows become columns. On a computer no number moves: the same memory is walked in "
            "another order, so it costs no storage. Steps 4 to 6 need it."
        )


def _product(toy: Toy, row: int) -> str:
    hot = " & ".join(
        rf"\textcolor{{{LIVE}}}{{1}}" if at == row else rf"\textcolor{{{OTHER}}}{{0}}"
        for at in range(toy.V)
    )
    result = " & ".join(f"{number:.4g}" for number in one_hot(toy.V, row) @ toy.E)
    return (
        rf"\begin{{bmatrix}} {hot} \end{{bmatrix}} {_matrix(toy.E, lit_row=row)}"
        rf" \\[6pt] = \begin{{bmatrix}} {result} \end{{bmatrix}}"
    )


def _gradient(toy: Toy, row: int) -> str:
    lines = [
        " & ".join(
            rf"\textcolor{{{LIVE}}}{{g_{column + 1}}}"
            if at == row
            else rf"\textcolor{{{OTHER}}}{{0}}"
            for column in range(toy.d)
        )
        for at in range(toy.V)
    ]
    return rf"\frac{{\partial\,\text{{loss}}}}{{\partial E}} = {_bracketed(lines)}"


def _matrix(numbers: np.ndarray, lit_row: int | None = None, lit_column: int | None = None) -> str:
    """A matrix in LaTeX; one row or one column amber, the rest grey."""
    lines = []
    for at, line in enumerate(numbers):
        cells = [
            rf"\textcolor{{{LIVE if lit_row == at or lit_column == column else OTHER}}}"
            rf"{{{number:.4g}}}"
            for column, number in enumerate(line)
        ]
        lines.append(" & ".join(cells))
    return _bracketed(lines)


def _bracketed(lines: list[str]) -> str:
    inner = r" \\ ".join(lines)
    return rf"\begin{{bmatrix}} {inner} \end{{bmatrix}}"


def _real_half() -> None:
    """Both ways on the real E, timed on this machine."""
    loaded = opened_or_invited("Then both ways are timed on its own table.")
    if loaded is None:
        return
    from tiedviz.compute.walkthrough_rows import time_lookup

    token = real_token(loaded)
    rows, width = loaded.embedding.shape
    st.markdown(
        f"One-hot of {markdown_safe(token.shown)} has {count(rows)} places, "
        f"{count(rows - 1)} of them 0: (V − 1)/V = **{percent(zero_share(rows), 4)}** of the "
        f"{count(rows * width)} products are wasted."
    )
    if st.button("Time both ways", icon=":material/timer:", type="primary"):
        with loaded.lock, st.spinner("Timing", show_time=True):
            st.session_state[_TIMED_KEY] = (loaded.key, time_lookup(loaded, token.id))
    key, timed = st.session_state.get(_TIMED_KEY, (None, None))
    if key == loaded.key and timed.row == token.id:
        _show(timed)
    else:
        st.caption("Reading one row, and multiplying one-hot by the whole of E.")


def _show(timed: LookupTimed) -> None:
    left, right = st.columns(2)
    left.metric("read row x", _seconds(timed.lookup_seconds), border=True)
    right.metric("one-hot · E", _seconds(timed.product_seconds), border=True)
    [touched] = timed.rows_with_gradient
    st.markdown(
        f"The product took **{timed.product_seconds / timed.lookup_seconds:,.0f} times** as long "
        f"for the same numbers (max |Δ| = {scientific(timed.max_abs_difference)}). A gradient sent "
        f"back through the lookup touches one row: **{count(touched)}**."
    )
    st.caption(
        f"Medians of {timed.repeats} on this machine, after one call for warming up. The product "
        f"multiplies by 0 {count(timed.wasted)} times."
    )


def _seconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:,.1f} ms"


def _question(toy: Toy) -> Question:
    wasted = (toy.V - 1) * toy.d
    return Numbers(
        "step 3",
        "One-hot times E on the toy: how many of its products multiply by 0?",
        (("products with 0", wasted),),
        "All rows but one, and every column of them.",
        f"(V − 1) · d = {toy.V - 1} · {toy.d} = {wasted} of {toy.V * toy.d}.",
    )


STEP = Step(
    title="Lookup is a matrix multiply",
    idea=(
        "The same row comes out of a product: a vector with a single 1 at place x, times E. All "
        "other products are with 0, so nobody computes them; but the product explains what "
        "learning does: it is differentiable, and **only the row that was read gets a gradient**."
    ),
    task="Pick a row, and find the part of the table that is multiplied by zero.",
    toy_half=_toy_half,
    real_half=_real_half,
    question=_question,
)
