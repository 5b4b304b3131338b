"""Which model is chosen, and whether it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.models.known import KnownFacts, files_here, known_facts
from tiedviz.models.sources import HubSource, Source, find_source
from tiedviz.ui.caches import hub_answers, model_pool
from tiedviz.ui.frame.first_choice import GPT2, MODEL_KEY, first_choice, why_first
from tiedviz.words.shelf import SHELF

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tiedviz.models.hub import RemoteModel
    from tiedviz.models.loaded import LoadedModel

HUB_EXAMPLES = (GPT2, "EleutherAI/pythia-160m", "google-bert/bert-base-uncased")
_RECENT_KEY = "recent models"


def model_box() -> None:
    """The box that says which model all pages are about; kept in the link."""
    recent = st.session_state.setdefault(_RECENT_KEY, [])
    options = list(dict.fromkeys([*SHELF, *HUB_EXAMPLES, *recent]))
    # on the first run of a deep link the box has no state yet, only the link names the model
    chosen = st.session_state.get(MODEL_KEY) or _linked()
    if chosen and chosen not in options:
        recent.append(chosen)
        options.append(chosen)
    st.selectbox(
        "Model",
        options,
        index=options.index(first_choice()),
        format_func=lambda name: SHELF[name].title if name in SHELF else name,
        key=MODEL_KEY,
        bind="query-params",
        accept_new_options=True,
        help="A shelf model, a Hub id (OWNER/NAME, with @REVISION where wanted), or the path of a "
        "model folder or .gguf file on the server. Type to enter another.",
    )
    if not chosen or chosen == first_choice():
        why_first()


def _linked() -> str | None:
    """The model in the link. Streamlit writes a shelf model there by its title."""
    linked = st.query_params.get(MODEL_KEY)
    return next((name for name, model in SHELF.items() if model.title == linked), linked)


def chosen_source() -> Source:
    """What the model box names.

    Raises:
        NoSuchModel, NoSuchPath: nothing.
    """
    return find_source(str(st.session_state.get(MODEL_KEY) or first_choice()))


def chosen_facts(source: Source) -> KnownFacts | None:
    """The facts of the chosen model: of the open one where it is open, else from its files.

    None while the Hub has not answered, or where only opening it will tell.
    """
    loaded = model_pool().get(source.text)
    return known_facts(source, remote(source)) if loaded is None else _facts_of(loaded)


def remote(source: Source) -> RemoteModel | None:
    """What the Hub said about a repository that is not in the cache; None until it answers.

    Raises:
        HubRefusal, FileRefusal: what it said was no.
    """
    answer = _answer(source)
    return answer.result() if answer is not None and answer.done() else None


def hub_is_thinking(source: Source) -> bool:
    """Whether an answer of the Hub is on its way."""
    answer = _answer(source)
    return answer is not None and not answer.done()


def _answer(source: Source) -> Future[RemoteModel] | None:
    if not isinstance(source, HubSource) or files_here(source) is not None:
        return None
    return hub_answers().about(source.repo, source.revision)


def _facts_of(loaded: LoadedModel) -> KnownFacts:
    rows, width = loaded.embedding.shape
    return KnownFacts(
        rows,
        width,
        loaded.layers,
        loaded.parameters,
        loaded.share,
        f"counted in memory, {loaded.dtype}",
        stores_one_table=loaded.tied,
    )
