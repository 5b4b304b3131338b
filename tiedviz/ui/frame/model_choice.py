"""Which model is chosen, which one before anyone chooses, and whether it is open.

GPT-2 comes first where its files are in the cache or the Hub is known to answer; else the smallest
shelf model, which travels in a Python package. The Hub is asked once for the whole process, in the
background, after the first page is drawn; nothing a person sees changes under their hands when it
answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.models.hub import cached_snapshot
from tiedviz.models.known import KnownFacts, known_facts
from tiedviz.models.sources import HubSource, Source, find_source
from tiedviz.ui.caches import hub_answers, model_pool
from tiedviz.words.shelf import SHELF

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tiedviz.models.hub import RemoteModel
    from tiedviz.models.loaded import LoadedModel


GPT2 = "openai-community/gpt2"
HUB_EXAMPLES = (GPT2, "EleutherAI/pythia-160m", "google-bert/bert-base-uncased")
MODEL_KEY = "model"
_RECENT_KEY = "recent models"
_SMALLEST = min(SHELF.values(), key=lambda model: model.download_size)
_CHOICE_KEY = "first choice"
_REASONS = {
    "cached": "GPT-2 comes first: its files are in the cache.",
    "answers": "GPT-2 comes first: the Hub answers.",
    "unknown": f"{_SMALLEST.title} comes first: it needs no Hub.",
}


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
        OpeningRefusal: nothing.
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
    if not isinstance(source, HubSource) or source.files_here() is not None:
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


def first_choice() -> str:
    """The model to begin with; the same for the whole of a visit."""
    return _SMALLEST.name if _reason() == "unknown" else GPT2


def why_first() -> None:
    """One line on the choice, and the way to GPT-2 where the Hub has answered since."""
    reason = _reason()
    st.caption(_REASONS[reason])
    if reason != "unknown":
        return
    answers = _hub_answers()
    if answers is None:
        _ask_the_hub()
    elif answers:
        st.button("The Hub answers: choose GPT-2", on_click=_choose, type="tertiary")
    else:
        st.caption("The Hub does not answer from here.")


def _reason() -> str:
    if _CHOICE_KEY not in st.session_state:
        st.session_state[_CHOICE_KEY] = _find_reason()
    return str(st.session_state[_CHOICE_KEY])


def _find_reason() -> str:
    if cached_snapshot(GPT2) is not None:
        return "cached"
    return "answers" if _hub_answers() else "unknown"


def _hub_answers() -> bool | None:
    """Whether the Hub answered the one question of this process; None while that is open."""
    answer = hub_answers().earlier(GPT2, None)
    if answer is None or not answer.done():
        return None
    return answer.exception() is None


@st.fragment(run_every=1.0)
def _ask_the_hub() -> None:
    """Ask on the second run of this fragment, which comes after the page is on the screen."""
    if not st.session_state.get("the page is drawn"):
        st.session_state["the page is drawn"] = True
    elif _hub_answers() is None:
        hub_answers().about(GPT2, None)
    else:
        st.rerun()


def _choose() -> None:
    st.session_state[MODEL_KEY] = GPT2
