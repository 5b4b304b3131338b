"""Which model is chosen, and whether it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.models.known import KnownFacts, known_facts
from tiedviz.models.sources import Source, find_source
from tiedviz.ui.caches import residents
from tiedviz.words.shelf import SHELF

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel

MODEL_KEY = "model"
_RECENT_KEY = "recent models"


def default_model() -> str:
    """What is chosen before anyone chooses: the smallest model that needs no Hub."""
    return min(SHELF.values(), key=lambda model: model.download_size).name


def model_box() -> None:
    """The box that says which model all pages are about; kept in the link."""
    recent = st.session_state.setdefault(_RECENT_KEY, [])
    options = list(dict.fromkeys([*SHELF, *recent]))
    # on the first run of a deep link the box has no state yet, only the link names the model
    chosen = st.session_state.get(MODEL_KEY) or st.query_params.get(MODEL_KEY)
    if chosen and chosen not in options:
        recent.append(chosen)
        options.append(chosen)
    st.selectbox(
        "Model",
        options,
        index=options.index(default_model()),
        format_func=lambda name: SHELF[name].title if name in SHELF else name,
        key=MODEL_KEY,
        bind="query-params",
        accept_new_options=True,
        help="A shelf model, or the path of a model folder or .gguf file on the server.",
    )


def chosen_source() -> Source:
    """What the model box names.

    Raises:
        NoSuchModel, NoSuchPath: nothing.
    """
    return find_source(str(st.session_state.get(MODEL_KEY) or default_model()))


def chosen_facts(source: Source) -> KnownFacts:
    """The facts of the chosen model: of the open one where it is open, else from its files."""
    loaded = residents().get(source.text)
    return known_facts(source) if loaded is None else _facts_of(loaded)


def _facts_of(loaded: LoadedModel) -> KnownFacts:
    rows, width = loaded.embedding.shape
    return KnownFacts(
        rows,
        width,
        loaded.layers,
        loaded.parameters,
        loaded.share,
        f"counted in memory, {loaded.dtype}",
    )
