"""The tab Any model: exact counts of whatever has a config.json, without its weights."""

from __future__ import annotations

import json

import streamlit as st

from tiedviz.compute.counts import Counts, counts_in_row
from tiedviz.compute.counts.configs import Config, config_in_text
from tiedviz.ui.caches import counts, named_config
from tiedviz.ui.embedding_share.counted import show_counts
from tiedviz.ui.frame import refusals_shown
from tiedviz.words.catalogue import CatalogueRow

_WAYS = ("Name or path", "Paste", "Upload")


def any_model() -> None:
    """Ask for a configuration, count it, show the counts. What was typed stays on a refusal."""
    st.markdown(
        "The architecture is built without a single weight, from config.json alone, and counted. "
        "Of a Hub id only that file is read."
    )
    way = st.segmented_control(
        "Where the config.json comes from",
        _WAYS,
        default=_WAYS[0],
        required=True,
        key="count way",
        persist_state="session",
    )
    with refusals_shown():
        {"Paste": _pasted, "Upload": _uploaded}.get(str(way), _named)()


def _named() -> None:
    text = st.text_input(
        "Hub id, shelf name, model folder or path of a config.json",
        placeholder="openai-community/gpt2",
        key="count name",
        persist_state="session",
        help="Press Enter to count. Paths are read on the machine that runs the app.",
    )
    if not text.strip():
        return
    title = text.strip()
    with st.spinner("Reading config.json and counting …", show_time=True):
        found = named_config(title)
        if not isinstance(found, CatalogueRow):
            show_counts(title, _count(found, title), None, "counted just now from its config.json")
            return
    show_counts(found.repo_id, counts_in_row(found), found.file_numbers, _origin_of(found))


def _pasted() -> None:
    text = st.text_area(
        "The text of a config.json",
        height=220,
        placeholder='{"model_type": "llama", "vocab_size": 32000, …}',
        key="count text",
        persist_state="session",
    )
    st.button("Count", type="primary")  # leaving the box is what sends the text
    if text:
        _count_text(text.encode("utf-8", "replace"), "the pasted config.json")


def _uploaded() -> None:
    file = st.file_uploader("A config.json", type=["json"], key="count file")
    if file is not None:
        _count_text(file.getvalue(), file.name)


def _count_text(raw: bytes, name: str) -> None:
    config = config_in_text(raw, name)
    with st.spinner("Counting …", show_time=True):
        answer = _count(config, name)
    show_counts(_called(config, name), answer, None, "counted just now")


def _count(config: Config, title: str) -> Counts:
    return counts(json.dumps(config, sort_keys=True), title)


def _called(config: Config, name: str) -> str:
    """The class that the configuration names, else where it came from."""
    named = config.get("architectures")
    return str(named[0]) if isinstance(named, list) and named else name


def _origin_of(row: CatalogueRow) -> str:
    return f"from the catalogue; its configuration: {row.source}"
