"""The entry point: `streamlit run app.py`. The pages are chosen in tiedviz/main.py."""

import streamlit as st

app = st.App("tiedviz/main.py")
