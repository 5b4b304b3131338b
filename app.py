"""The entry point: `streamlit run app.py`. The pages are chosen in tiedviz/main.py."""

from pathlib import Path

import streamlit as st

from tiedviz.ui.frame.server import SECURITY_HEADERS, keep_on_search_path

keep_on_search_path(Path(__file__).parent / "tiedviz")
app = st.App("tiedviz/main.py", middleware=SECURITY_HEADERS)
