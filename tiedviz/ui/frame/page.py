"""The head of a page: its title, one sentence, and the corner where Share & export stands."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


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
