"""What pages that do not call `ui.share.share` yet draw their popover from."""

from __future__ import annotations

import json
import shlex
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from tiedviz.ui.share import csv_button, loading_code

__all__ = ["loading_code", "permalink", "show_command", "show_downloads", "show_link"]

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def permalink(page: str, **parameters: object) -> str:
    """A link to `page` with these parameters, on the address this visitor used."""
    base = str(st.context.url or "").split("?")[0]
    here = page and base.rstrip("/").endswith(page)  # Home is at the address itself
    base = base if here else f"{base.rstrip('/')}/{page}"
    kept = {key: value for key, value in parameters.items() if value is not None}
    return f"{base}?{urlencode(kept)}"


def show_link(link: str) -> None:
    """The link, with a word on who can open it."""
    st.markdown("**Link**")
    st.code(link, language=None, wrap_lines=True)
    if any(f"//{host}" in link for host in _LOOPBACK):
        st.caption(
            "This address is your own machine's: the link works here only. To show somebody else, "
            "send the command or a file."
        )


def show_command(command: str, *arguments: str) -> None:
    """The command line that prints the same numbers."""
    st.markdown("**Command line**")
    st.code(
        shlex.join(["python", "-m", "tiedviz", command, *arguments]),
        language="bash",
        wrap_lines=True,
    )


def show_downloads(
    name: str, table: pd.DataFrame, record: dict[str, Any], *, charts: bool = True
) -> None:
    """The table as CSV, everything as JSON, and where the charts of the page come as PNG.

    The files are written when somebody asks for them. Until then Streamlit keeps what they are
    written from: numbers, and never a model.
    """
    left, right = st.columns(2)
    with left:
        csv_button(table, name)
    as_json = partial(json.dumps, record, ensure_ascii=False, indent=2)
    right.download_button("JSON", as_json, f"{name}.json", "application/json", on_click="ignore")
    if charts:
        st.caption("PNG: point at a chart; its button for that appears above the right corner.")
