"""The verdict to take along: Markdown for an issue, JSON; link, command line, Python."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from tiedviz.models.sources import Source
from tiedviz.ui.caches import residents
from tiedviz.ui.export import loading_code, permalink, show_command, show_link
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.verdict.hearing import record_of
from tiedviz.verdict.wording.report import markdown_report


def python_code(source: Source, kind: str) -> str:
    """What the third witness looks at, without this app.

    Args:
        source: the model.
        kind: the name of its class.
    """
    return (
        "import torch\n"
        f"from transformers import {kind}, AutoTokenizer, GgufConfig\n"
        f"{loading_code(source, kind)}"
        "E = model.get_input_embeddings().weight\n"
        "W = model.get_output_embeddings().weight\n"
        "print('one Parameter:', W is E)\n"
        "print('one place in memory:', W.data_ptr() == E.data_ptr() != 0)  # 0 on meta\n"
        "print('same numbers:', torch.equal(E, W))\n"
    )


def share_and_export(heard: Heard) -> None:
    """The popover."""
    record = record_of(heard.hearing)
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link(permalink("is_it_tied", model=heard.source.text))
        show_command("audit", heard.source.text)
        if (loaded := residents().get(heard.source.text)) is not None:
            st.markdown("**Python, without this app**")
            st.code(python_code(heard.source, type(loaded.model).__name__), language="python")
        st.markdown("**Files**")
        with st.container(horizontal=True):
            _files(record, "share")


def copy_report(heard: Heard) -> None:
    """The button beside Hear all four: the whole evidence, to copy or to keep, in two forms."""
    record = record_of(heard.hearing)
    with st.popover("Copy report", icon=":material/content_copy:"):
        form = st.segmented_control(
            "Form", _FORMS, default=_FORMS[0], key="report form", label_visibility="collapsed"
        )
        if form == _FORMS[1]:
            st.caption("What `audit --json` prints. The button in its corner copies it.")
            st.code(_json(record), language="json", wrap_lines=True, height=320)
        else:
            st.caption("Ready to paste into an issue. The button in its corner copies it.")
            st.code(markdown_report(record), language="markdown", wrap_lines=True, height=320)
        with st.container(horizontal=True):
            _files(record, "report")


_FORMS = ["Markdown", "JSON"]


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2)


def _files(record: dict[str, Any], place: str) -> None:
    """Both forms as files; `place` tells the buttons of two popovers apart."""
    for label, text, name, kind in (
        ("Markdown", markdown_report(record), "verdict.md", "text/markdown"),
        ("JSON", _json(record), "verdict.json", "application/json"),
    ):
        st.download_button(
            label, text, name, kind, on_click="ignore", key=f"{name} from {place}",
            icon=":material/download:",
        )  # fmt: skip
