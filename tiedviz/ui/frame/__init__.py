"""What stands around every page: its head and refusals here, the rest in the modules beside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tiedviz.ui.frame.server import without_paths
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe


def page_head(title: str, sentence: str = "") -> DeltaGenerator:
    """Draw the title, and the sentence where there is one.

    Returns the corner to their right, to be filled at the end.
    """
    left, right = st.columns([5, 1.3], vertical_alignment="center")
    left.title(title, anchor=False)
    if sentence:
        st.caption(sentence)
    return right.container(horizontal_alignment="right")


def tighten() -> None:
    """Take back the empty band above every page, so that the first screen has room for the page."""
    st.html("<style>.stMainBlockContainer {padding-top: 3.6rem; padding-bottom: 3rem}</style>")


def show_refusal(refusal: Refusal) -> None:
    """What, why and what to try, in a red box."""
    what, why, remedy = (
        markdown_safe(without_paths(each)) for each in (refusal.what, refusal.why, refusal.remedy)
    )
    st.error(f"**{what}.**  \n{why}.\n\n{remedy}", icon=":material/block:")


@contextmanager
def refusals_shown() -> Iterator[None]:
    """Run a page; a refusal ends it with its words instead of a traceback.

    What was drawn before stays, and so does what was typed.
    """
    try:
        yield
    except Refusal as refusal:
        show_refusal(refusal)
