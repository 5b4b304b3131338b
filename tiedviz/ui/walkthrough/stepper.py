"""Which of the ten steps is on the screen: Back, 1 to 10, Next, kept in the link."""

from __future__ import annotations

import streamlit as st

from tiedviz.words.walkthrough import STEPS

STEP_KEY = "step"
_TURNED_KEY = "a page of the walkthrough was turned"
# The button below the page leaves the reader at the bottom of the next one. The step stands in the
# script because the browser runs the same text only once.
_TO_THE_TOP = (
    "<script>/* step {} */ document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0)</script>"
)


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
