"""Does this checkpoint share one matrix, and what follows."""

import streamlit as st

from tiedviz.ui import is_it_tied
from tiedviz.ui.frame import page_head

corner = page_head(
    "Is it tied?",
    "Four independent witnesses: what config.json declares, what the files store, what the live "
    "model shares, and what its logits prove. They often disagree.",
)
audit = is_it_tied.audit_chosen()
if audit is not None:
    is_it_tied.banner(audit.verdict)
    is_it_tied.witness_rows(audit)
    is_it_tied.notes(audit)
    is_it_tied.figures(audit.verdict)
    with corner:
        is_it_tied.share_and_export(audit)
is_it_tied.tabs(audit)
st.caption("Whatever is done on this page, the loaded model is never changed.")
