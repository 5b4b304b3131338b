"""The tabs under the verdict. Only the open one is computed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from tiedviz.ui.frame import refusals_shown
from tiedviz.ui.is_it_tied.against_base import against_base_tab
from tiedviz.ui.is_it_tied.both_heads import both_heads_tab
from tiedviz.ui.is_it_tied.break_one import break_one_tab
from tiedviz.ui.is_it_tied.evidence_tab import evidence_tab
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.ui.is_it_tied.many import many_tab
from tiedviz.ui.is_it_tied.pasted import pasted_tab
from tiedviz.ui.is_it_tied.prove_it import prove_it_tab
from tiedviz.ui.is_it_tied.verdict_tab import verdict_tab

_TABS: dict[str, Callable[[Heard | None], None]] = {
    "Verdict": verdict_tab,
    "Evidence and other loaders": evidence_tab,
    "Against the base": against_base_tab,
    "Prove it": prove_it_tab,
    "Break one": break_one_tab,
    "Try both heads": both_heads_tab,
    "Many": many_tab,
    "Paste an error": pasted_tab,
}


def tabs(heard: Heard | None) -> None:
    """Draw them; which is open stands in the link."""
    drawn = st.tabs(list(_TABS), key="tab", on_change="rerun", bind="query-params")
    for tab, body in zip(drawn, _TABS.values(), strict=True):
        if tab.open:
            with tab, refusals_shown():
                body(heard)
