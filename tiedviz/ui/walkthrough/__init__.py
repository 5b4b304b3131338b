"""The page Walkthrough: ten steps, one module each, one of them on the screen."""

from __future__ import annotations

import streamlit as st

from tiedviz.compute.toy import read_toy
from tiedviz.ui.frame import refusals_shown, show_refusal
from tiedviz.ui.frame.model_choice import MODEL_KEY
from tiedviz.ui.share import share, toy_code
from tiedviz.ui.walkthrough import (
    step_01_address,
    step_02_table,
    step_03_lookup,
    step_04_two_jobs,
    step_05_tying,
    step_06_logits,
    step_07_learning,
    step_08_edge_cases,
    step_09_loop,
)
from tiedviz.ui.walkthrough.halves import current_toy, put_toy, real_title
from tiedviz.ui.walkthrough.step import ask, solved
from tiedviz.ui.walkthrough.step_10_practice import practice_step
from tiedviz.words.refusals import Refusal

_ON_THE_WAY = (
    step_01_address.STEP,
    step_02_table.STEP,
    step_03_lookup.STEP,
    step_04_two_jobs.STEP,
    step_05_tying.STEP,
    step_06_logits.STEP,
    step_07_learning.STEP,
    step_08_edge_cases.STEP,
    step_09_loop.STEP,
)
STEPS = (*_ON_THE_WAY, practice_step(_ON_THE_WAY))

STEP_KEY = "step"
_TURNED_KEY = "a page of the walkthrough was turned"
# The button below the page leaves the reader at the bottom of the next one. The step stands in the
# script because the browser runs the same text only once.
_TO_THE_TOP = (
    "<script>/* step {} */ document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0)</script>"
)
_FILE_KEY = "toy file"
_SAID_KEY = "toy file said"


def stepper() -> int:
    """Draw the row of steps. Returns the chosen one, 1 to 10."""
    with st.container(horizontal=True, vertical_alignment="center", key="stepper"):
        chosen = st.segmented_control(
            "Step",
            list(range(1, len(STEPS) + 1)),
            default=1,
            key=STEP_KEY,
            bind="query-params",
            required=True,
            label_visibility="collapsed",
        )
        step = int(chosen or 1)
        _turn("Back", step - 1, ":material/arrow_back:", "top")
        _turn("Next", step + 1, ":material/arrow_forward:", "top")
    if st.session_state.pop(_TURNED_KEY, False):
        st.html(_TO_THE_TOP.format(step), unsafe_allow_javascript=True)
    return step


def heading(step: int) -> None:
    """The step's name, its idea, and the one thing to do."""
    current = STEPS[step - 1]
    st.subheader(f"{step}. {current.title}", anchor=False)
    st.markdown(current.idea)
    st.markdown(f":material/touch_app: **Do this:** {current.task}")


def draw(step: int) -> None:
    """Draw step 1 to 10: the toy on the left, the real model on the right, a question below."""
    current = STEPS[step - 1]
    if current.toy_half and current.real_half:
        left, right = st.columns(2, gap="large")
        with left:
            st.markdown("#### On the toy")
            current.toy_half()
        with right:
            st.markdown(f"#### On {real_title()}")
            with refusals_shown():
                current.real_half()
    if current.below:
        current.below()
    if current.question:
        st.markdown("#### Check yourself")
        ask(current.question(current_toy()))


def onward(step: int) -> None:
    """The same buttons below the page, with the names of the steps they lead to."""
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        if step > 1:
            _turn(_named(step - 1), step - 1, ":material/arrow_back:", "end")
        if step < len(STEPS):
            _turn(_named(step + 1), step + 1, ":material/arrow_forward:", "end", "primary")


def _named(step: int) -> str:
    return f"{step}. {STEPS[step - 1].title}"


def _turn(label: str, to: int, icon: str, place: str, look: str = "secondary") -> None:
    st.button(
        label,
        key=f"turn to {to} at the {place}",
        icon=icon,
        type="primary" if look == "primary" else "secondary",
        disabled=not 1 <= to <= len(STEPS),
        on_click=_turn_to,
        args=(to,),
    )


def _turn_to(step: int) -> None:
    st.session_state[STEP_KEY] = step
    st.session_state[_TURNED_KEY] = True


def share_and_export(step: int) -> None:
    """The popover: a link to this step, the toy as it is now, and the same in plain numpy."""
    toy = current_toy()
    popover = share(
        "walkthrough",
        link={"model": st.session_state.get(MODEL_KEY), "step": step},
        link_note="The link leads to this step and model. The toy's numbers travel as a file.",
        code=toy_code(toy),
        name="toy",
        table=toy.scores(),
        record={"step": step, **toy.record(), "solved": sorted(solved())},
    )
    with popover:
        _upload()


def _upload() -> None:
    """A toy back from its JSON; the tables of all steps take its numbers."""
    st.file_uploader(
        "Read a toy back from its JSON",
        type="json",
        key=_FILE_KEY,
        max_upload_size=1,
        on_change=_take_file,
        help="The file of the button above, perhaps edited: E is four lists of three numbers, h_L "
        "one. The numbers of this page are replaced.",
    )
    said = st.session_state.get(_SAID_KEY)
    if isinstance(said, Refusal):
        show_refusal(said)
    elif said:
        st.caption(f":material/check: {said}")


def _take_file() -> None:
    """Runs before the page is drawn anew, so that every table shows what came."""
    file = st.session_state.get(_FILE_KEY)
    st.session_state[_SAID_KEY] = None
    if file is None:
        return
    try:
        put_toy(read_toy(file.getvalue()))
        st.session_state[_SAID_KEY] = "The tables hold the numbers of the file."
    except Refusal as refusal:
        st.session_state[_SAID_KEY] = refusal
