"""Step 1: a token ID is an address."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.compute.toy import Toy, neighbours, word_ids
from tiedviz.ui.frame.opened_model import opened_or_invited
from tiedviz.ui.walkthrough.halves import real_token, toy_editor, word_pills
from tiedviz.ui.walkthrough.step import Choice, Question, Step
from tiedviz.words.numbers import count
from tiedviz.words.tokens import markdown_safe

_COLUMNS = {
    "named": st.column_config.TextColumn("token, ID"),
    "cosine": st.column_config.NumberColumn("cosine", format="%.3f", width="small"),
}


def _toy_half() -> None:
    """A sentence as IDs; one word's neighbours by ID and by meaning."""
    text = st.text_input(
        "A sentence of the toy's words", "the cat ran", key="toy sentence", persist_state="session"
    )
    st.markdown(_as_ids(text, Toy.published()))
    toy = toy_editor(state=False)
    row = word_pills(toy, "A word, with its ID")
    by_meaning = neighbours(toy.words, toy.E, row).rename(columns={"word": "text"})
    _side_by_side(by_meaning[by_meaning["ids_apart"] == 1].sort_values("id"), by_meaning)
    st.caption(f"{_twice(toy)} Cosine: 1 same direction, 0 unrelated, −1 opposite.")


def _as_ids(text: str, toy: Toy) -> str:
    """Each word with its ID."""
    pieces = word_ids(text, toy.words)
    if not pieces:
        return ":gray[Nothing typed yet.]"
    return " · ".join(
        f"{markdown_safe(word)} → **{id}**"
        if id is not None
        else f":orange[{markdown_safe(word)} → no row] (step 8)"
        for word, id in pieces
    )


def _twice(toy: Toy) -> str:
    """Whether the vector of ID 2 is twice that of ID 1, in numbers."""
    doubled, two = 2 * toy.E[1], toy.E[2]
    same = "is" if (doubled == two).all() else "is not"
    return (
        f"ID 2 is 2 · ID 1, but the vector of “{toy.words[2]}” {_vector(two)} {same} twice that of "
        f"“{toy.words[1]}”, {_vector(doubled)}."
    )


def _vector(numbers: object) -> str:
    return f"({', '.join(f'{number:.4g}' for number in numbers)})"  # type: ignore[attr-defined]


def _side_by_side(by_id: pd.DataFrame, by_meaning: pd.DataFrame) -> None:
    left, right = st.columns(2)
    for place, title, frame in (
        (left, "Next by ID", by_id),
        (right, "Next by meaning", by_meaning),
    ):
        with place:
            st.markdown(f"**{title}**")
            named = [f"{text}  {id}" for text, id in zip(frame["text"], frame["id"], strict=True)]
            st.dataframe(
                frame.assign(named=named),
                hide_index=True,
                column_order=list(_COLUMNS),
                column_config=_COLUMNS,
                alt=f"{title}: ID, token and cosine with the word that was picked",
            )


def _real_half() -> None:
    """The same with this model's tokenizer and E."""
    loaded = opened_or_invited(
        "Then you can type any word and see its pieces and their neighbours."
    )
    if loaded is None:
        return
    from tiedviz.compute.walkthrough_rows import next_by_id, next_by_meaning

    token = real_token(loaded)
    _side_by_side(next_by_id(loaded, token.id), next_by_meaning(loaded, token.id))
    st.caption(
        f"Neighbours of {markdown_safe(token.shown)}, row {count(token.id)} of "
        f"{count(loaded.embedding.shape[0])}. By ID: the rows stored next to it. By meaning: the "
        f"rows of E that point most the same way, among all ({loaded.dtype})."
    )


def _question(toy: Toy) -> Question:
    one, two = toy.words[1], toy.words[2]
    return Choice(
        "step 1",
        f"“{one}” has ID 1 and “{two}” has ID 2. What follows from that?",
        (
            f"“{two}” means twice as much as “{one}”",
            f"“{one}” and “{two}” mean nearly the same",
            "They are read from row 1 and row 2, and nothing else",
            f"“{two}” is the rarer word",
        ),
        2,
        "Would anything change if the two rows and their numbers were swapped together?",
        "An ID is an address. Renumber all tokens, move their rows along, and the model is the "
        "same.",
    )


STEP = Step(
    title="A token ID is an address",
    idea=(
        "A tokenizer cuts text into pieces and gives each piece a number, its **ID**. The ID says "
        "only *which row* of a table to read. It is a house number, not a quantity: ID 2 is not "
        "twice ID 1, and neighbours by number need not mean anything alike."
    ),
    task="Pick a word and compare its neighbours by ID with its neighbours by meaning.",
    toy_half=_toy_half,
    real_half=_real_half,
    question=_question,
)
