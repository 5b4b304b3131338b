"""Showing a refusal, wherever on a page it comes up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from tiedviz.ui.frame.shared_server import without_paths
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe


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
