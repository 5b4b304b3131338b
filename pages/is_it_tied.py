"""Does this checkpoint share one matrix, and what follows."""

import streamlit as st

from tiedviz.ui import is_it_tied
from tiedviz.ui.frame import page_head

corner = page_head(
    "Is it tied?",
    "Four independent witnesses: what config.json declares, what the files store, what the live "
    "model shares, and what its logits prove. They often disagree.",
)
heard = is_it_tied.hear_chosen()
if heard is not None:
    is_it_tied.banner(heard.hearing.verdict)
    is_it_tied.witness_rows(heard)
    is_it_tied.notes(heard)
    is_it_tied.figures(heard.hearing.verdict)
    with corner:
        is_it_tied.share_and_export(heard)
is_it_tied.tabs(heard)
st.caption("Whatever is done on this page, the loaded model is never changed.")
