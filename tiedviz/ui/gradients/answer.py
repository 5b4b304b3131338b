"""The two sides as bars and row by row, the proof that they add up, and Share & export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.charts.gradients import row_bars, side_bars
from tiedviz.ui.drawing import draw
from tiedviz.ui.gradients.run import TARGET_KEY, Shown
from tiedviz.ui.plain_code import gradient_code
from tiedviz.ui.prompt_bar import bos_to_share
from tiedviz.ui.share import options, share
from tiedviz.words.numbers import count, percent, plural, scientific

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel


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


_DRAWN = 14


def rows(loaded: LoadedModel, shown: Shown) -> pd.DataFrame:
    """Chart and table of the rows that were read or asked for, and the most corrected besides."""
    from tiedviz.compute.gradients import opposed, row_table

    frame = row_table(loaded, shown.sentence, shown.split)
    st.subheader("Row by row", anchor=False)
    if shown.split.tied:
        apart, both = opposed(shown.split)
        st.markdown(
            f"In **{apart}** of {both} rows that were read, the two sides pull apart (cosine < 0)."
        )
    left, right = st.columns([5, 6])
    draw(left, row_bars(frame.head(_DRAWN)), key="row bars")
    left.caption(
        f"Longer bar: that side corrects the row more. The {min(_DRAWN, len(frame))} most "
        "corrected of the table."
    )
    with right:
        _table(frame)
    return frame


def _table(frame: pd.DataFrame) -> None:
    column = st.column_config
    columns = {
        "text": column.TextColumn("token"),
        "id": column.NumberColumn("id", format="%d"),
        "read": column.NumberColumn("read", format="%d", help="how often it was looked up"),
        "asked": column.NumberColumn("asked", format="%d", help="how often it was the target"),
        "input_norm": column.NumberColumn(
            "input", format="%.4g", help="length of the input side of this row"
        ),
        "output_norm": column.NumberColumn(
            "output", format="%.4g", help="length of the output side of this row"
        ),
        "cosine": column.NumberColumn(
            "cos", format="%.3f", help="of the two sides of this row; empty where there is one"
        ),
    }
    st.dataframe(
        frame,
        hide_index=True,
        key="gradient rows",
        height="content" if len(frame) <= 15 else 560,
        column_order=list(columns),
        column_config=columns,
        alt="Rows of the matrix with the lengths of both sides of their gradient and their cosine",
    )


def positions(loaded: LoadedModel, shown: Shown) -> None:
    """What each position was asked for and its loss."""
    from tiedviz.compute.gradients import position_table

    with st.expander("The loss, position by position"):
        st.dataframe(
            position_table(loaded, shown.sentence, shown.split),
            hide_index=True,
            key="gradient positions",
            height="content" if len(shown.sentence.targets) <= 15 else 560,
            column_config={
                "loss": st.column_config.NumberColumn("−ln p, nats", format="%.4f"),
            },
            alt="Each position with the token it reads, the token asked for, and the loss",
        )
        st.caption("The loss above is the mean of the last column.")


def share_and_export(loaded: LoadedModel, shown: Shown, frame: pd.DataFrame) -> None:
    """The popover. What it offers gives the numbers that are on the screen now."""
    from tiedviz.compute.gradients import gradient_record

    if shown.old:
        return  # what is typed and what is shown differ; a link could name only one of them
    sentence, bos = shown.sentence, bos_to_share()
    target = st.session_state.get(TARGET_KEY) if sentence.decoder_ids is not None else None
    target = target or None
    said = {"--text": sentence.text, "--target": target, "--bos": bos}
    share(
        "gradients",
        link={"model": loaded.source, "prompt": sentence.text, "bos": bos, "target": target},
        commands=[["gradients", loaded.source, *options(said)]],
        code=gradient_code(loaded, sentence),
        table=frame.drop(columns="longer"),
        record=gradient_record(loaded, sentence, shown.split),
    )
