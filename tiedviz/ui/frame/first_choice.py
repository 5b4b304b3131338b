"""Which model is chosen before anyone chooses, and why: said in one line under the model box.

GPT-2 where its files are in the cache or the Hub is known to answer; else SmolLM2, which travels in
a Python package. The Hub is asked once for the whole process, in the background, after the first
page is drawn; nothing a person sees changes under their hands when it answers.
"""

from __future__ import annotations

import streamlit as st

from tiedviz.models.hub import cached_snapshot
from tiedviz.ui.caches import hub_answers
from tiedviz.words.shelf import SHELF

GPT2 = "openai-community/gpt2"
MODEL_KEY = "model"
_SMALLEST = min(SHELF.values(), key=lambda model: model.download_size)
_CHOICE_KEY = "first choice"
_REASONS = {
    "cached": "GPT-2 comes first: its files are in the cache.",
    "answers": "GPT-2 comes first: the Hub answers.",
    "unknown": f"{_SMALLEST.title} comes first: it needs no Hub.",
}


def first_choice() -> str:
    """The model to begin with; the same for the whole of a visit."""
    return _SMALLEST.name if _reason() == "unknown" else GPT2


def why_first() -> None:
    """One line on the choice, and the way to GPT-2 where the Hub has answered since."""
    reason = _reason()
    st.caption(_REASONS[reason])
    if reason != "unknown":
        return
    answers = _hub_answers()
    if answers is None:
        _ask_the_hub()
    elif answers:
        st.button("The Hub answers: choose GPT-2", on_click=_choose, type="tertiary")
    else:
        st.caption("The Hub does not answer from here.")


def _reason() -> str:
    if _CHOICE_KEY not in st.session_state:
        st.session_state[_CHOICE_KEY] = _find_reason()
    return str(st.session_state[_CHOICE_KEY])


def _find_reason() -> str:
    if cached_snapshot(GPT2) is not None:
        return "cached"
    return "answers" if _hub_answers() else "unknown"


def _hub_answers() -> bool | None:
    """Whether the Hub answered the one question of this process; None while that is open."""
    answer = hub_answers().earlier(GPT2, None)
    if answer is None or not answer.done():
        return None
    return answer.exception() is None


@st.fragment(run_every=1.0)
def _ask_the_hub() -> None:
    """Ask on the second run of this fragment, which comes after the page is on the screen."""
    if not st.session_state.get("the page is drawn"):
        st.session_state["the page is drawn"] = True
    elif _hub_answers() is None:
        hub_answers().about(GPT2, None)
    else:
        st.rerun()


def _choose() -> None:
    st.session_state[MODEL_KEY] = GPT2
