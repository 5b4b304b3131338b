"""The router: which pages there are, and the sidebar they share. Run by app.py at every rerun."""

from base64 import b64encode
from pathlib import Path

import streamlit as st

from tiedviz.ui.frame import refusals_shown, tighten
from tiedviz.ui.frame.server import guard, keep_on_search_path
from tiedviz.ui.frame.sidebar import sidebar

# Titles alone: with icons, nine do not fit beside the sidebar at 1280 pixels.
_PAGES = (
    ("home", "Home"),
    ("walkthrough", "Walkthrough"),
    ("is_it_tied", "Is it tied?"),
    ("next_token", "Next token"),
    ("layers", "Layers"),
    ("token_map", "Token map"),
    ("gradients", "Gradients"),
    ("compare", "Compare"),
    ("embedding_share", "Embedding share"),
)

# These draw the progress of an opening themselves. One polling fragment on a screen: two of them
# keep superseding the run that would take both away.
_SHOW_PROGRESS = ("next_token", "layers", "token_map", "gradients", "compare")

_HERE = Path(__file__).parent
# beside the package in a checkout, inside it where tiedviz is installed (see pyproject.toml)
_FOLDER = next(
    path for path in (_HERE / "dashboard/pages", _HERE.parent / "pages") if path.is_dir()
)

# Inside the page: as a file of its own it is gone for a moment whenever a run is superseded early.
_ICON = b64encode((_HERE / "ui" / "icon.png").read_bytes()).decode()

keep_on_search_path(_HERE)
st.set_page_config(page_icon=f"data:image/png;base64,{_ICON}", layout="wide")
pages = [
    st.Page(_FOLDER / f"{stem}.py", title=title, default=stem == "home") for stem, title in _PAGES
]
page = st.navigation(pages, position="top")
tighten()
guard()
with refusals_shown():
    sidebar(polls=page.url_path not in _SHOW_PROGRESS)
    page.run()
