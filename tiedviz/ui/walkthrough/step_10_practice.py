"""Step 10: questions one at a time, questions on the chosen model, things to do, recall cards."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from tiedviz.ui.caches import model_pool
from tiedviz.ui.frame import refusals_shown
from tiedviz.ui.frame.model_choice import chosen_facts, chosen_source
from tiedviz.ui.walkthrough.halves import current_toy, real_title
from tiedviz.ui.walkthrough.practice_questions import model_questions, practice
from tiedviz.ui.walkthrough.step import (
    PAPER,
    Question,
    Step,
    ask,
    forget_progress,
    solved,
    take_answers,
)
from tiedviz.words.tokens import markdown_safe

_AT_KEY = "practice question"

_THINGS_TO_DO = (
    "Build it separate, then tied, and see equal shapes (step 4 does both; do it once yourself).",
    "Work out what tying saves in a model you know.",
    "Find out whether a real implementation ties, and where that is configured.",
)

_CARDS = (
    (
        "What does an ID carry?",
        "An address: which row of E to read. No size, no order, no meaning.",
    ),
    (
        "Why is a lookup no multiply?",
        "One-hot times E gives the same row, but (V − 1)/V of its products are with 0. Reading the "
        "row costs d copies and no arithmetic.",
    ),
    (
        "What does a transpose do, and why is it free?",
        "Rows become columns: Eᵀ[i, j] = E[j, i]. The numbers stay where they are; only the order "
        "in which they are walked changes. The product with it still costs 2·V·d operations.",
    ),
    (
        "What exactly is tied?",
        "The input embedding and the output matrix: one tensor under two names. Not the blocks, "
        "not biases, not positions.",
    ),
    (
        "What does one logit measure?",
        "How well h_L fits one token's row: the dot product h_L · e_j, plus what this model adds. "
        "It grows with the length of both, and with how much they point the same way.",
    ),
    (
        "What is L?",
        "The number of blocks a state passes. h_L is what enters the output matrix after the last "
        "of them and the final norm.",
    ),
    (
        "Why does the table learn from two sources?",
        "As input: the gradient of the rows that were read. As output: (p_j − 1 for the right "
        "token)·h_L, for every row. Tied, it gets the sum.",
    ),
    (
        "What about special and unknown tokens?",
        "PAD, BOS, EOS and UNK are rows like others. A word-level vocabulary turns every word it "
        "lacks into UNK; a byte-level one has no need of it.",
    ),
    (
        "Where does position enter?",
        "Not in E. It is added to the row (learned or sinusoidal positions) or turned into the "
        "attention (rotary, relative). The output side never sees it.",
    ),
)
"""Question and answer."""


def _practice(before: Sequence[Step]) -> None:
    take_answers(practice())
    _progress(before)
    asked, own, reps, cards = st.tabs(
        ["Questions", f"On {real_title()}", "Three things to do", "Recall cards"]
    )
    with asked:
        _one_at_a_time(practice())
    with own, refusals_shown():
        _about_the_model()
    with reps:
        _reps()
    with cards:
        _cards()
    st.caption(f"Primary source: {PAPER}.")


def _progress(before: Sequence[Step]) -> None:
    toy = current_toy()
    on_the_way = [step.question(toy).key for step in before if step.question is not None]
    keys = {*on_the_way, *(question.key for question in practice())}
    done = len(keys & solved())
    left, right = st.columns([4, 1], vertical_alignment="center")
    left.progress(
        done / len(keys),
        f"{done} of {len(keys)} solved, the questions of steps 1 to 9 among them",
    )
    right.button(
        "Start over", icon=":material/restart_alt:", type="tertiary", on_click=forget_progress
    )


def _one_at_a_time(questions: tuple[Question, ...]) -> None:
    """One question, and a row of numbers to reach the others; the solved ones are ticked."""
    at = st.segmented_control(
        "Question",
        range(len(questions)),
        format_func=lambda at: f"{at + 1} ✓" if questions[at].key in solved() else f"{at + 1}",
        default=0,
        key=_AT_KEY,
        required=True,
        label_visibility="collapsed",
        persist_state="session",
        wrap=True,
    )
    at = int(at or 0)
    ask(questions[at])
    st.button(
        "Next question",
        icon=":material/arrow_forward:",
        disabled=at + 1 == len(questions),
        on_click=_go_to,
        args=(at + 1,),
    )


def _go_to(at: int) -> None:
    st.session_state[_AT_KEY] = at


def _about_the_model() -> None:
    source = chosen_source()
    facts = chosen_facts(source)
    if facts is None or facts.V is None or facts.d is None or not facts.parameters:
        st.info("Its sizes are not known yet; opening it tells.")
        return
    loaded = model_pool().get(source.text)
    tied = facts.stores_one_table if loaded is None else loaded.tied
    title = markdown_safe(source.title)
    for question in model_questions(title, facts.V, facts.d, facts.parameters, tied):
        ask(question)
    st.caption(f"{facts.origin[0].upper()}{facts.origin[1:]}.")


def _reps() -> None:
    for number, rep in enumerate(_THINGS_TO_DO, 1):
        st.checkbox(rep, key=f"rep {number}", persist_state="session")
    st.page_link("../pages/is_it_tied.py", label="Is it tied?", icon=":material/link:")


def _cards() -> None:
    st.caption("Say the answer aloud, then turn the card.")
    columns = st.columns(3)
    for number, (question, answer) in enumerate(_CARDS):
        with columns[number % 3].container(border=True):
            st.markdown(f"**{question}**")
            if st.toggle("Turn", key=f"card {number}", persist_state="session"):
                st.markdown(answer)


def practice_step(before: Sequence[Step]) -> Step:
    """The last step; its progress counts the questions of the steps before it as well."""
    return Step(
        title="Practice",
        idea="Answer first, then look. Each answer is checked at once; a hint comes before the "
        "answer.",
        task="Solve them all; your progress is kept while this browser tab is open.",
        below=lambda: _practice(before),
    )
