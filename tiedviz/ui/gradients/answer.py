"""The two sides as bars, in one sentence, and the proof that they add up."""

from __future__ import annotations

import streamlit as st

from tiedviz.charts.gradients import side_bars
from tiedviz.ui.drawing import draw
from tiedviz.ui.gradients.run import Shown
from tiedviz.words.numbers import count, percent, plural, scientific


def headline(shown: Shown) -> None:
    """As in: 72.9 % of the correction comes from the output side; 11 rows read, all corrected."""
    split = shown.split
    rows = len(split.output_norms)
    reached = (
        f"all {count(rows)}"
        if split.output_rows_touched == rows
        else f"{count(split.output_rows_touched)} of {count(rows)}"
    )
    st.subheader(
        f"Input corrects {plural(split.input_rows_touched, 'row')}, output {reached}; "
        f"output share {percent(split.output_share)}.",
        anchor=False,
    )


def two_bars(shown: Shown) -> None:
    """A bar for each side, as long as its norm; beside them loss, cosine, norm of the sum."""
    split = shown.split
    left, right = st.columns([5, 4], vertical_alignment="center")
    draw(
        left,
        side_bars(
            input_norm=split.input_norm,
            output_norm=split.output_norm,
            input_rows=split.input_rows_touched,
            output_rows=split.output_rows_touched,
        ),
        key="two sides",
    )
    left.caption(
        "Longer bar: a longer gradient (Frobenius norm). Output share = ‖output‖ / (‖input‖ + "
        "‖output‖)."
    )
    with right:
        st.markdown(
            f"Loss **{split.loss:.4f}** nats, mean of {plural(len(split.losses), 'position')} "
            f"({split.dtype})"
        )
        if split.later_tokens_move:
            st.caption(
                ":material/visibility: No next-token loss: at each position this model also reads "
                "the tokens after it, the one that is asked for among them. Measured: another last "
                f"token moves earlier logits by up to {split.later_tokens_move:.3g}."
            )
        if split.cosine is None:
            st.markdown("**Two matrices: the two sides never meet.**")
            st.caption(
                "The input side corrects E alone, the output side W alone. Tied, both would be "
                "added up in one table."
            )
            return
        st.markdown(f"Cosine of the two sides **{split.cosine:.3f}**")
        st.markdown(f"‖input + output‖ = **{split.sum_norm:#.4g}**")
        st.caption(
            "Cosine 0: the sides correct the table in unrelated directions; below 0 they pull "
            "apart, and each undoes some of the other."
        )


def proof(shown: Shown) -> None:
    """The formula and how far the sum of the sides lies from autograd's own gradient."""
    split = shown.split
    left, right = st.columns([4, 5], vertical_alignment="center")
    read = r"\textstyle\sum_t \mathbf{1}_{x_t}\,g_t^{\mathsf{T}}"
    scored = r"\textstyle\sum_t \delta_t\,h_t^{\mathsf{T}}"
    left.latex(
        rf"\frac{{dL}}{{dE}}=\underbrace{{{read}}}_{{\text{{input}}}}"
        rf"+\underbrace{{{scored}}}_{{\text{{output}}}}"
        if split.tied
        else rf"\frac{{dL}}{{dE}}={read},\quad\frac{{dL}}{{dW}}={scored}"
    )
    against = (
        "the two sides added up and what autograd gives for the one matrix"
        if split.tied
        else "each side and what autograd gives for its own matrix"
    )
    entries = count(len(split.output_norms))
    right.caption(
        f"max |Δ| = **{scientific(split.max_abs_difference)}** between {against}, over all "
        f"{entries} rows, limit {scientific(split.tolerance)} ({split.dtype}). The sides come from "
        "one pass with two views of the matrix, autograd's from another with one.  \n"
        "g: what comes back to the row looked up at position t. δ: what comes back to the product "
        "h·e of every token, probability minus target over n for plain cross-entropy."
    )
    if not split.agrees:
        st.warning("The sides differ from autograd by more than rounding: believe autograd.")
