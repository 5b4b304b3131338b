"""The verdict to take along: Markdown for an issue, JSON, link, command line."""

from __future__ import annotations

import json

import streamlit as st

from tiedviz.compute.witnesses.hearing import record_of
from tiedviz.files.verdict.wording.report import markdown_report
from tiedviz.ui.export import permalink, show_command, show_link
from tiedviz.ui.is_it_tied.heard import Heard


def share_and_export(heard: Heard) -> None:
    """The popover."""
    record = record_of(heard.hearing)
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link(permalink("is_it_tied", model=heard.source.text))
        show_command("audit", heard.source.text)
        st.markdown("**Report**, to paste into an issue")
        st.code(markdown_report(record), language="markdown", wrap_lines=True, height=240)
        text = json.dumps(record, ensure_ascii=False, indent=2)
        st.download_button("JSON", text, "verdict.json", "application/json", on_click="ignore")
