"""Which models of the catalogue the page shows."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.compute.counts.table import share_frame
from tiedviz.words.catalogue import KINDS

_KEYS = ("name", "family", "kind", "tied", "year", "V")
_ROWS = (0, 32_000, 50_000, 65_000, 100_000, 130_000, 152_000, 250_000, 300_000)


def filtered_models() -> pd.DataFrame:
    """Draw the filters. Returns the rows of `share_frame` that pass; ends the run if none does."""
    every = share_frame()
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Filter", icon=":material/filter_list:"):
            shown = _pass(every)
            st.button("Show all again", on_click=_clear, type="tertiary")
        st.caption(f"{len(shown)} of {len(every)} models shown.", width="content")
    return shown


def _pass(every: pd.DataFrame) -> pd.DataFrame:
    text = st.text_input("Name contains", key=_key("name"), persist_state="session")
    families = st.multiselect(
        "Family", sorted(set(every["family"])), key=_key("family"), persist_state="session"
    )
    kinds = st.pills(
        "Kind",
        list(KINDS),
        format_func=KINDS.__getitem__,
        selection_mode="multi",
        key=_key("kind"),
        persist_state="session",
    )
    tied = st.pills("Output matrix", ["tied", "untied"], key=_key("tied"), persist_state="session")
    first, last = int(every["year"].min()), int(every["year"].max())
    years = st.slider("Year", first, last, (first, last), key=_key("year"), persist_state="session")
    rows = st.select_slider(
        "V, rows of E, between",
        _ROWS,
        (_ROWS[0], _ROWS[-1]),
        format_func=lambda number: f"{number:,}",
        key=_key("V"),
        persist_state="session",
    )
    keep = every["repo_id"].str.contains(text.strip(), case=False, regex=False)
    keep &= every["year"].between(*years) & every["V"].between(*rows)
    for column, wanted in (("family", families), ("kind", kinds), ("tied", [tied] if tied else [])):
        if wanted:
            keep &= every[column].isin(wanted)
    return every[keep].reset_index(drop=True)


def _key(name: str) -> str:
    return f"share filter {name}"


def _clear() -> None:
    for name in _KEYS:
        st.session_state.pop(_key(name), None)
