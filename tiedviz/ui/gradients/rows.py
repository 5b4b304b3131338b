"""Which rows are corrected, by which side, and the loss at each position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.charts.gradients import row_bars
from tiedviz.ui.drawing import draw
from tiedviz.ui.gradients.run import Shown

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel

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
