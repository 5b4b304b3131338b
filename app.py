"""The entry point: `streamlit run app.py`. The pages are chosen in tiedviz/main.py."""

from pathlib import Path

import streamlit as st

import tiedviz
from tiedviz.ui.frame.server import SECURITY_HEADERS, keep_on_search_path

package = Path(tiedviz.__file__).parent  # beside this file, or above it where tiedviz is installed
keep_on_search_path(package)
app = st.App(package / "main.py", middleware=SECURITY_HEADERS)
