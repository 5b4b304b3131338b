"""The pieces of the page Is it tied?, and its tabs. Only the open one is computed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from tiedviz.ui.frame import refusals_shown
from tiedviz.ui.is_it_tied.audit_state import audit_chosen
from tiedviz.ui.is_it_tied.evidence import evidence_tab, share_and_export, witness_rows
from tiedviz.ui.is_it_tied.experiments import (
    against_base_tab,
    both_heads_tab,
    break_one_tab,
    prove_it_tab,
)
from tiedviz.ui.is_it_tied.typed import many_tab, pasted_tab
from tiedviz.ui.is_it_tied.verdict import banner, figures, notes, verdict_tab
from tiedviz.verdict.audit import Audit

__all__ = [
    "audit_chosen",
    "banner",
    "figures",
    "notes",
    "share_and_export",
    "tabs",
    "witness_rows",
]

_TABS: dict[str, Callable[[Audit | None], None]] = {
    "Verdict": verdict_tab,
    "Evidence and other loaders": evidence_tab,
    "Against the base": against_base_tab,
    "Prove it": prove_it_tab,
    "Break one": break_one_tab,
    "Try both heads": both_heads_tab,
    "Many": many_tab,
    "Paste an error": pasted_tab,
}


def tabs(audit: Audit | None) -> None:
    """Draw them; which is open stands in the link."""
    drawn = st.tabs(list(_TABS), key="tab", on_change="rerun", bind="query-params")
    for tab, body in zip(drawn, _TABS.values(), strict=True):
        if tab.open:
            with tab, refusals_shown():
                body(audit)
