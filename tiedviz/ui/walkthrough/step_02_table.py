"""Step 2: the lookup table as a picture, one row lit."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.charts.walkthrough import place_in_table, table_picture
from tiedviz.compute.toy import DIMENSIONS, Toy
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame.opened_model import opened_or_invited
from tiedviz.ui.walkthrough.halves import real_token, toy_editor, word_pills
from tiedviz.ui.walkthrough.step import Numbers, Question, Step
from tiedviz.words.numbers import count, megabytes
from tiedviz.words.tokens import markdown_safe

_KEY = "The fuller a square, the larger its number; the amber frame is the row that is read."


def _toy_half() -> None:
    """E as 4 × 3 squares."""
    toy = toy_editor(state=False)
    row = word_pills(toy, "Read the row of")
    draw(
        st,
        table_picture(_cells(toy, row)),
        key="toy table",
        alt=f"The toy's table as {toy.V} × {toy.d} squares, the row of {toy.words[row]} framed",
    )
    numbers = ",\\ ".join(f"{number:.4g}" for number in toy.E[row])
    st.latex(rf"E[{row}] = ({numbers})")
    st.caption(f"V × d = {toy.V} × {toy.d} = {toy.V * toy.d} numbers. {_KEY}")


def _cells(toy: Toy, lit: int) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (row, word, DIMENSIONS[column], float(toy.E[row, column]), row == lit)
            for row, word in enumerate(toy.words)
            for column in range(toy.d)
        ],
        columns=["row", "label", "column", "value", "lit"],
    )


def _real_half() -> None:
    """The rows around one token, and where they lie in the whole table."""
    loaded = opened_or_invited("Then its table stands here, with the row of any token lit.")
    if loaded is None:
        return
    from tiedviz.compute.walkthrough_rows import rows_around

    token = real_token(loaded)
    cells = rows_around(loaded, token.id)
    rows, width = loaded.embedding.shape
    drawn = cells["row"].nunique(), cells["column"].nunique()
    draw(
        st,
        table_picture(cells),
        key="real table",
        alt=f"{drawn[0]} rows of E around row {token.id}, the first {drawn[1]} columns of each",
    )
    draw(
        st,
        place_in_table(token.id, rows),
        key="place in the table",
        alt=f"Row {count(token.id)} among all {count(rows)} rows of E",
    )
    embedding = loaded.embedding
    st.caption(
        f"V × d = {count(rows)} × {count(width)} = **{count(embedding.numel())}** numbers, "
        f"{megabytes(embedding.nbytes)} in {loaded.dtype}. Drawn: {drawn[0]} rows around "
        f"{markdown_safe(token.shown)}, {drawn[1]} of {count(width)} columns. {_KEY}"
    )


def _question(toy: Toy) -> Question:
    return Numbers(
        "step 2",
        "How many learned numbers does the toy's table hold?",
        (("V × d", toy.V * toy.d),),
        "One row for each word, the same number of columns in each.",
        f"V × d = {toy.V} × {toy.d} = {toy.V * toy.d}.",
    )


STEP = Step(
    title="The lookup table",
    idea=(
        "**E** is a table of V rows and d columns: one row for each token, d learned numbers in "
        "each. To embed token x is to read row x. Nothing is computed."
    ),
    task="Light another row, and change one of its numbers.",
    toy_half=_toy_half,
    real_half=_real_half,
    question=_question,
)
