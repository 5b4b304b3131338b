"""The entry point: `streamlit run app.py`. The pages are chosen in tiedviz/main.py."""

import streamlit as st

from tiedviz.ui.frame.headers import SECURITY_HEADERS

app = st.App("tiedviz/main.py", middleware=SECURITY_HEADERS)
