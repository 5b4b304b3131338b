"""The likeliest texts of all models on one axis, and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from tiedviz.charts.compare import answer_dots
from tiedviz.ui.caches import lru
from tiedviz.ui.compare.seats import Seat
from tiedviz.ui.drawing import draw

_ROWS = 12  # texts that are drawn; the table and the file have all


def dots(seats: Sequence[Seat]) -> pd.DataFrame | None:
    """Draw them. Returns the table, where at least one model has answered."""
    answered = [seat for seat in seats if seat.answer is not None]
    if not answered:
        return None
    frame = _frame(answered)
    st.subheader("What comes next", anchor=False)
    drawn = frame[frame["order"] < _ROWS]
    titles = {seat.letter: seat.title for seat in answered}
    draw(st, answer_dots(drawn, titles), key="likeliest texts")
    st.caption(
        "Further right: likelier. Tokens are matched by the text they decode to; no dot: that "
        "model has no token for it. Texts among the ten likeliest of any model, at temperature 1."
    )
    with st.expander("As a table"):
        _table(frame, answered)
    return frame


def _frame(answered: Sequence[Seat]) -> pd.DataFrame:
    name = ("table", tuple((seat.letter, seat.key, seat.prompt) for seat in answered))
    found = lru("shared").get(name)
    if found is None:
        from tiedviz.compute.compare.shared_tokens import likeliest_texts

        found = likeliest_texts(
            [seat.letter for seat in answered],
            [seat.answer.probabilities for seat in answered if seat.answer is not None],
            [seat.texts() for seat in answered],
        )
        lru("shared").keep(name, found)
    frame: pd.DataFrame = found
    return frame


def _table(frame: pd.DataFrame, answered: Sequence[Seat]) -> None:
    wide = frame.pivot(index="order", columns="letter", values="probability") * 100
    texts = frame.drop_duplicates("order").set_index("order")["text"]
    wide.insert(0, "text", texts)
    columns: dict[str, Any] = {"text": st.column_config.TextColumn("text")}
    for seat in answered:
        columns[seat.letter] = st.column_config.NumberColumn(
            f"{seat.letter} · {seat.title}", format="%.2f %%"
        )
    st.dataframe(
        wide,
        hide_index=True,
        column_config=columns,
        alt="The likeliest texts with the probability each model gives them",
    )
