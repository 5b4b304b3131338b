"""What a step of the walkthrough is made of: its words, its two halves, and a question at its end.

A question is answered on the page and checked at once, with a hint before the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import streamlit as st

from tiedviz.compute.toy import Toy

PAPER = (
    "Press & Wolf, *Using the Output Embedding to Improve Language Models*, 2017, "
    "[arXiv 1608.05859](https://arxiv.org/abs/1608.05859)"
)


@dataclass(frozen=True)
class Choice:
    """A question with a few answers to pick from.

    Attributes:
        key: what its state is kept under.
        text: the question.
        options: what can be picked, each a different text.
        right: which of them.
        hint: what to think of.
        answer: why.
    """

    key: str
    text: str
    options: tuple[str, ...]
    right: int
    hint: str
    answer: str


@dataclass(frozen=True)
class Numbers:
    """A question for whole numbers to work out.

    Attributes:
        key, text, hint, answer: as above.
        blanks: what is asked for, and the number that is right.
    """

    key: str
    text: str
    blanks: tuple[tuple[str, int], ...]
    hint: str
    answer: str


@dataclass(frozen=True)
class OwnWords:
    """A question for sentences of one's own; what a good answer mentions is looked for.

    Attributes:
        key, text, hint, answer: as above.
        points: what it should mention, and a pattern by which that is found.
    """

    key: str
    text: str
    points: tuple[tuple[str, str], ...]
    hint: str
    answer: str

    def mentioned(self, said: str) -> list[bool]:
        """For each point, whether `said` mentions it."""
        return [bool(re.search(pattern, said, re.IGNORECASE)) for _, pattern in self.points]


Question = Choice | Numbers | OwnWords


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        title: its name.
        idea: the one thing to take away, in two or three sentences.
        task: the one thing to do.
        toy_half: draws the left half, on the toy; it needs no model. None: there are no halves.
        real_half: draws the right half, on the chosen model. What it refuses leaves the left one.
        below: draws what stands below both, over the whole width.
        question: asked at the end, answered from the toy as it is now.
    """

    title: str
    idea: str
    task: str
    toy_half: Callable[[], None] | None = None
    real_half: Callable[[], None] | None = None
    below: Callable[[], None] | None = None
    question: Callable[[Toy], Question] | None = None


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
_NUMBER = re.compile(r"(\d+)(?:\.(\d+))?([kmb]?)", re.IGNORECASE)


def read_whole_number(text: str) -> int | None:
    """The whole number that `text` writes, or None.

    38400000, 38,400,000, 38 400 000, 38_400_000 and 38.4M are all the same; 1.5 is none.
    """
    figures = _NUMBER.fullmatch(re.sub(r"[\s,_'’]", "", text))
    if figures is None or len(figures[0]) > 30:
        return None
    whole, part, unit = figures[1], figures[2] or "", figures[3]
    scaled = int(whole + part) * _UNITS[unit.lower()]
    return None if scaled % 10 ** len(part) else scaled // 10 ** len(part)


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
