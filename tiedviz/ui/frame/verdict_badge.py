"""The verdict on the chosen model in one word, from its files alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

from tiedviz.files.access import identity
from tiedviz.ui.caches import header_verdict, heard_files
from tiedviz.ui.frame.choice import remote
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.models.sources import Source
    from tiedviz.verdict.audit import Audit

_TONES: dict[str, tuple[Literal["blue", "orange", "red", "gray"], str]] = {
    "calm": ("blue", ":material/check:"),
    "amber": ("orange", ":material/warning:"),
    "red": ("red", ":material/error:"),
    "grey": ("gray", ":material/help:"),
}


def verdict_badge(source: Source) -> None:
    """The word, with its state as a tooltip; nothing where no file can be heard yet.

    No weights are read for it. Two stored matrices that nobody has compared are called just that:
    most are an untied model's, and the page Is it tied? compares them.
    """
    try:
        audit = _audit(source)
    except Refusal:
        return  # the words for it stand where the facts would
    if audit is None:
        return
    verdict = audit.verdict
    word, about = verdict.word.replace("_", " "), verdict.state
    if verdict.word == "cannot_tell" and audit.two_copies and not audit.comparison:
        word, about = "two matrices, not compared", "Compare them on the page Is it tied?"
    colour, icon = _TONES[verdict.tone]
    st.badge(f"by its files: {word}", icon=icon, color=colour, help=markdown_safe(about))


def _audit(source: Source) -> Audit | None:
    """What can be heard without opening or fetching anything."""
    from tiedviz.verdict.audit import Audit, local_files

    files = local_files(source.text)
    if files is not None:
        key = identity(files)
        found = heard_files(key)
        return header_verdict(key, files) if found is None else Audit(*found, model=source.text)
    answer = remote(source)
    if answer is None or answer.witnesses is None:
        return None
    declared, stored = answer.witnesses
    return Audit(declared, stored, model=source.text)
