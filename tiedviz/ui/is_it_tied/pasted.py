"""Paste an error: what a message about shared tensors says about tying."""

from __future__ import annotations

import streamlit as st

from tiedviz.ui.is_it_tied.banner import prose
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.verdict.wording.pasted import explain
from tiedviz.words.tokens import markdown_safe

_LONGEST = 20_000


def pasted_tab(heard: Heard | None) -> None:
    """A box for the message; what it means, which names it gives, and what to do."""
    message = st.text_area(
        "Error message",
        key="pasted error",
        max_chars=_LONGEST,
        placeholder="Some tensors share memory, this will lead to duplicate memory on disk …",
        persist_state="session",
    )
    if not message.strip():
        st.caption("What safetensors or transformers say when a tied model is saved.")
        return
    found = explain(message)
    if found is None:
        st.info("This is no message about shared tensors, so it says nothing about tying.")
        return
    st.success(markdown_safe(found.meaning), icon=":material/link:")
    for names in found.names:
        st.code(" = ".join(names), language=None, wrap_lines=True)
    st.markdown(prose(found.remedy))
