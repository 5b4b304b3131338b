"""Step 10: questions one at a time, questions on the chosen model, things to do, recall cards."""

from __future__ import annotations

import streamlit as st

from tiedviz.compute.questions import check_question, model_questions, practice
from tiedviz.ui.caches import model_pool
from tiedviz.ui.frame import refusals_shown
from tiedviz.ui.frame.model_choice import chosen_facts, chosen_source
from tiedviz.ui.walkthrough.asking import ask, forget_progress, solved, take_answers
from tiedviz.ui.walkthrough.real import real_title
from tiedviz.ui.walkthrough.toy import current_toy
from tiedviz.words.questions import Question
from tiedviz.words.tokens import markdown_safe
from tiedviz.words.walkthrough import CARDS, PAPER, REPS

_AT_KEY = "practice question"


def draw() -> None:
    """All of step 10."""
    take_answers(practice())
    _progress()
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


def _progress() -> None:
    on_the_way = [check_question(step, current_toy()).key for step in range(1, 10)]
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
    for number, rep in enumerate(REPS, 1):
        st.checkbox(rep, key=f"rep {number}", persist_state="session")
    st.page_link("../pages/is_it_tied.py", label="Is it tied?", icon=":material/link:")


def _cards() -> None:
    st.caption("Say the answer aloud, then turn the card.")
    columns = st.columns(3)
    for number, (question, answer) in enumerate(CARDS):
        with columns[number % 3].container(border=True):
            st.markdown(f"**{question}**")
            if st.toggle("Turn", key=f"card {number}", persist_state="session"):
                st.markdown(answer)
