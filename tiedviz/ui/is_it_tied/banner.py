"""The verdict: one word, how things are, what to do; the four witnesses; four figures."""

from __future__ import annotations

import re

import streamlit as st

from tiedviz.ui.is_it_tied.heard import Heard, hear_the_rest
from tiedviz.ui.is_it_tied.report import copy_report
from tiedviz.verdict.verdict import Verdict
from tiedviz.words.numbers import count, exact_size, percent, short_count
from tiedviz.words.tokens import markdown_safe

_BOX = {"calm": st.success, "amber": st.warning, "red": st.error, "grey": st.info}
_ICONS = {
    "tied": ":material/link:",
    "twin": ":material/content_copy:",
    "near_twin": ":material/content_copy:",
    "untied": ":material/link_off:",
    "contradiction": ":material/error:",
    "broken": ":material/broken_image:",
    "partly_tied": ":material/rule:",
    "no_head": ":material/do_not_disturb_on:",
    "adapter": ":material/layers:",
    "cannot_tell": ":material/help:",
}
_STATES = {
    "declared": "what config.json says",
    "stored": "what the files hold",
    "loaded": "what the live model shares",
    "measured": "what its logits prove",
}


def prose(sentence: str) -> str:
    """A sentence made safe for Markdown; calls in backticks, as `tie_weights()`, stay code."""
    parts = re.split(r"`(\w+\(\))`", sentence)
    return "".join(
        f"`{part}`" if odd % 2 else markdown_safe(part) for odd, part in enumerate(parts)
    )


def banner(verdict: Verdict) -> None:
    """The word in its tone, the state, the advice, and how it usually came about."""
    word = verdict.word.replace("_", " ").capitalize()
    lines = [f"**{word}.** {markdown_safe(verdict.state)}", prose(verdict.advice)]
    if verdict.causes:
        lines.append("Usual causes: " + markdown_safe("; ".join(verdict.causes)))
    _BOX[verdict.tone]("\n\n".join(lines), icon=_ICONS[verdict.word])


def witness_rows(heard: Heard) -> None:
    """Four full-width rows: witness, state, evidence; then buttons for what is unheard."""
    with st.container(border=True, key="witnesses"):
        for row in heard.hearing.verdict.evidence:
            name, state, text = st.columns([1.6, 1.4, 5], vertical_alignment="top")
            name.markdown(f"**{row.witness}**  \n:small[:gray[{_STATES[row.witness]}]]")
            state.markdown(markdown_safe(row.state))
            text.markdown(markdown_safe(row.text) if row.text else ":gray[–]")
        with st.container(horizontal=True, vertical_alignment="center"):
            hear_the_rest(heard)
            copy_report(heard)


def notes(heard: Heard) -> None:
    """What is odd about the rows of E: freshly added ones, ones without a token."""
    for note in heard.hearing.live.notes if heard.hearing.live else ():
        st.info(markdown_safe(note), icon=":material/rule:")


def figures(verdict: Verdict) -> None:
    """Parameters, the part in E and W, and what tying saves."""
    costs = verdict.costs
    tables = costs.embedding + costs.head
    share = "–" if costs.share is None else percent(costs.share)
    cells = (
        (
            "parameters",
            short_count(costs.total),
            f"{count(costs.total)}, each once; {costs.origin}",
        ),
        ("in E and W", f"{short_count(tables)} · {share}", f"{count(tables)} numbers"),
        ("saved by tying", short_count(costs.saved_by_tying), f"{count(costs.saved_by_tying)}"),
        ("wasted in the file", exact_size(costs.wasted_bytes), "a second copy of one matrix")
        if costs.wasted_bytes
        else ("saved in bf16", exact_size(2 * costs.saved_by_tying), "two bytes for each number"),
    )
    for column, (label, value, help_text) in zip(st.columns(4), cells, strict=True):
        column.metric(label, value, help=help_text)
    if costs.unpacked_bytes or costs.uncounted:
        st.caption(f"Parameters {costs.origin}.")
