"""A question on the page: answered, checked at once, with a hint before the answer."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from tiedviz.ui.walkthrough.step import Choice, Numbers, OwnWords, Question, read_whole_number

_SOLVED_KEY = "walkthrough solved"
_BEGINNINGS = ("answer ", "help ", "card ", "rep ")


def ask(question: Question) -> None:
    """Draw it, with what is to be said about the answer so far."""
    take_answers([question])
    with st.container(border=True):
        mark = ":green[:material/check_circle:] " if question.key in solved() else ""
        st.markdown(f"{mark}**{question.text}**")
        if isinstance(question, Choice):
            _choice(question)
        elif isinstance(question, Numbers):
            _numbers(question)
        else:
            _own_words(question)
        if _is_right(question):
            st.success(question.answer, icon=":material/check:")
        else:
            _help(question)


def take_answers(questions: Iterable[Question]) -> None:
    """Remember which of these are answered rightly now; what was solved once stays so."""
    solved().update(question.key for question in questions if _is_right(question))


def solved() -> set[str]:
    """Keys of the questions that were answered rightly during this visit."""
    found: set[str] = st.session_state.setdefault(_SOLVED_KEY, set())
    return found


def forget_progress() -> None:
    """Begin again: nothing solved, nothing filled in, no card turned."""
    for key in list(st.session_state):
        if str(key).startswith(_BEGINNINGS):
            del st.session_state[key]
    st.session_state[_SOLVED_KEY] = set()


def _state(question: Question, blank: str = "") -> str:
    """The key under which an answer is kept."""
    return f"answer {question.key} {blank}".strip()


def _is_right(question: Question) -> bool:
    """Whether what is filled in now is right."""
    if isinstance(question, Choice):
        return st.session_state.get(_state(question)) == question.right
    if isinstance(question, Numbers):
        return all(
            read_whole_number(st.session_state.get(_state(question, label)) or "") == wanted
            for label, wanted in question.blanks
        )
    return all(question.mentioned(st.session_state.get(_state(question)) or ""))


def _choice(question: Choice) -> None:
    chosen = st.radio(
        question.text,
        range(len(question.options)),
        index=None,
        format_func=lambda at: question.options[at],
        key=_state(question),
        label_visibility="collapsed",
        persist_state="session",
    )
    if chosen is not None and chosen != question.right:
        st.warning("Not that one. Look again.", icon=":material/close:")


def _numbers(question: Numbers) -> None:
    columns = st.columns(len(question.blanks))
    for column, (label, wanted) in zip(columns, question.blanks, strict=True):
        with column:
            _number(_state(question, label), label, wanted)


def _number(key: str, label: str, wanted: int) -> None:
    said = st.text_input(label, key=key, persist_state="session", placeholder="a whole number")
    number = read_whole_number(said)
    if number == wanted:
        st.caption(":green[:material/check: Right.]")
    elif number is not None:
        st.caption(f":orange[:material/close:] Not {number:,}.")
    elif said.strip():
        st.caption(":orange[:material/close:] Not a whole number. 38,400,000 and 38.4M are fine.")


def _own_words(question: OwnWords) -> None:
    said = st.text_area(
        question.text,
        key=_state(question),
        label_visibility="collapsed",
        persist_state="session",
        placeholder="Two sentences of your own",
        height=90,
    )
    if said.strip():
        found = question.mentioned(said)
        lines = [
            f"{':green[:material/check:]' if each else ':gray[:material/circle:]'} {label}"
            for each, (label, _) in zip(found, question.points, strict=True)
        ]
        st.markdown("What it mentions, going by its words:  \n" + "  \n".join(lines))


def _help(question: Question) -> None:
    """A button for the hint; then one for the answer."""
    key = f"help {question.key}"
    level = int(st.session_state.get(key, 0))
    if level >= 1:
        st.info(question.hint, icon=":material/lightbulb:")
    if level >= 2:
        st.markdown(f":material/visibility: {question.answer}")
        return
    st.button(
        "Hint" if level == 0 else "Show the answer",
        key=f"more {question.key}",
        type="tertiary",
        icon=":material/lightbulb:" if level == 0 else ":material/visibility:",
        on_click=_show_more,
        args=(key,),
    )


def _show_more(key: str) -> None:
    st.session_state[key] = int(st.session_state.get(key, 0)) + 1
