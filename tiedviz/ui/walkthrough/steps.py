"""One step: the toy on the left, the real model on the right, a question below."""

from __future__ import annotations

from types import ModuleType

import streamlit as st

from tiedviz.compute.questions import check_question
from tiedviz.ui.frame import refusals_shown
from tiedviz.ui.walkthrough import (
    address,
    edges,
    learning,
    logits,
    lookup,
    picture,
    practice,
    table,
    two_jobs,
    tying,
)
from tiedviz.ui.walkthrough.asking import ask
from tiedviz.ui.walkthrough.real import real_title
from tiedviz.ui.walkthrough.toy import current_toy

# Steps 1 to 9. Each has toy_half, which needs no model, and real_half; two have more below.
_STEPS: tuple[ModuleType, ...] = (
    address,
    table,
    lookup,
    two_jobs,
    tying,
    logits,
    learning,
    edges,
    picture,
)


def draw(step: int) -> None:
    """Draw step 1 to 10. What is refused on the right leaves the left as it is."""
    if step > len(_STEPS):
        practice.draw()
        return
    drawn = _STEPS[step - 1]
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("#### On the toy")
        drawn.toy_half()
    with right:
        st.markdown(f"#### On {real_title()}")
        with refusals_shown():
            drawn.real_half()
    if drawn in (tying, picture):
        drawn.below()
    st.markdown("#### Check yourself")
    ask(check_question(step, current_toy()))
