"""Open models, and what the Hub said."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.models.hub.known import Asked
from tiedviz.models.memory.residents import Residents
from tiedviz.models.progress import Report, Step
from tiedviz.verdict.audit import hear_header

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel


@st.cache_resource(show_spinner=False)
def residents() -> Residents:
    """The open models of this process, shared by all visitors."""
    return Residents(_load)


def _load(source: str, *, report: Report, make_room: Callable[[int], None]) -> LoadedModel:
    """Open a model and measure its unembedding, so that no page waits for that without a word."""
    from tiedviz.compute.unembedding import unembedding_of  # here: the first page needs no torch
    from tiedviz.models.loading import load

    loaded = load(source, report=report, make_room=make_room)
    report(Step("Measuring what turns its states into scores"))
    unembedding_of(loaded)
    return loaded


@st.cache_resource(show_spinner=False)
def asked() -> Asked:
    """What the Hub said about repositories, asked for in the background."""
    return Asked(hear_header)
