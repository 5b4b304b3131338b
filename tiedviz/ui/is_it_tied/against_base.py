"""Against the base: which rows moved since the model this one was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.models.sources import find_source
from tiedviz.ui.caches import residents
from tiedviz.ui.frame.opening import open_button
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.words.numbers import count

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.verdict.against_base import AgainstBase


def against_base_tab(heard: Heard | None) -> None:
    """A box for the base, and the rows that changed, were added, or moved most."""
    st.markdown("Compare E with the E of the model this one was made from.")
    base_name = st.text_input(
        "Base model", key="base", placeholder="a Hub id, a path, smollm2", persist_state="session"
    )
    if heard is None or not base_name:
        return
    base_source = find_source(base_name)
    for source in (heard.source, base_source):
        if residents().get(source.text) is None:
            open_button(source, key=f"open {source.text} to compare")
            return
    now, base = residents().get(heard.source.text), residents().get(base_source.text)
    if now is not None and base is not None:
        _show(now, base, heard)


def _show(now: LoadedModel, base: LoadedModel, heard: Heard) -> None:
    from tiedviz.verdict.against_base import against_base

    if now.embedding.shape[1] != base.embedding.shape[1]:
        st.warning("Their widths differ, so one was not made from the other.")
        return
    found = against_base(now.embedding, base.embedding)
    labels = ("unchanged", "changed", "added", "removed")
    for column, label in zip(st.columns(4), labels, strict=True):
        column.metric(f"rows {label}", count(getattr(found, label)))
    if found.identical and heard.hearing.stored.head is None:
        st.warning(
            "No row of E moved and no head is stored: if this model was fine-tuned, a trained head "
            "may have been lost.",
            icon=":material/warning:",
        )
    _moved(found, now)


def _moved(found: AgainstBase, now: LoadedModel) -> None:
    if found.moved.empty:
        return
    tokens = [now.vocabulary.token(row).shown for row in found.moved["row"]]
    st.dataframe(
        found.moved.assign(token=tokens),
        hide_index=True,
        column_order=["token", "row", "distance", "relative", "cosine"],
        alt="The rows that moved most",
    )
