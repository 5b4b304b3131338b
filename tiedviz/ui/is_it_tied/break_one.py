"""Break one: a tiny model built on the spot, and the verdict changing in front of the reader."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st

from tiedviz.ui.is_it_tied.banner import banner
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.verdict.audit import hear_files
from tiedviz.verdict.breaks import BREAK_WORDS
from tiedviz.verdict.hearing import hearing
from tiedviz.words.tokens import markdown_safe


def break_one_tab(heard: Heard | None) -> None:
    """Pick a way to break it, and read the verdict on what came out."""
    st.markdown(
        "A two-block Llama of width 16 with 50 rows, tied, is built in a temporary folder. "
        "Do to it what happens to real checkpoints:"
    )
    how = st.segmented_control(
        "What to do",
        list(BREAK_WORDS),
        format_func=lambda name: BREAK_WORDS[name].title,
        key="break",
        label_visibility="collapsed",
    )
    if how is None:
        return
    with tempfile.TemporaryDirectory() as name, st.spinner("Building it", show_time=True):
        _break(str(how), Path(name))


def _break(how: str, folder: Path) -> None:
    from tiedviz.verdict.break_one import BREAKS, tiny_tied_folder

    tiny_tied_folder(folder)
    BREAKS[how](folder)
    declared, stored = hear_files(folder)
    verdict = hearing(BREAK_WORDS[how].title, declared, stored, None).verdict
    st.caption(f"{markdown_safe(BREAK_WORDS[how].story)} Before, the verdict was *tied*; now:")
    banner(verdict)
    for row in verdict.evidence[:2]:
        st.markdown(f"**{row.witness}**: {markdown_safe(row.state)}. {markdown_safe(row.text)}")
    _fresh_rows(folder)


def _fresh_rows(folder: Path) -> None:
    """Name rows that look freshly added."""
    from safetensors.torch import load_file

    from tiedviz.verdict.rows import fresh_rows

    table = load_file(folder / "model.safetensors")["model.embed_tokens.weight"]
    if (found := fresh_rows(table)) is not None:
        st.caption(markdown_safe(found.words))
