"""Opening what is missing, one model after another, and reading each as soon as it is in.

Answers are kept apart from the models, so it does not matter when the second opening lets the first
model go. Only a press of the button starts an opening.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tiedviz.models.sources import Cost, ShelfSource, Source
from tiedviz.ui.caches import lru, model_pool
from tiedviz.ui.compare.models import ComparedModel
from tiedviz.ui.frame.model_choice import chosen_source, hub_is_thinking, remote
from tiedviz.ui.frame.opened_model import is_opening, progress
from tiedviz.words.numbers import megabytes
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel

_ASKED_KEY = "compare asked"


def opening_place() -> DeltaGenerator:
    """Where the button and the progress will stand."""
    return st.container()


def read_if_open(model: ComparedModel, place: DeltaGenerator) -> None:
    """Read the prompt with the model's model where it is open and has not been asked yet."""
    loaded = open_model(model)
    if loaded is None or not model.waits:
        return
    from tiedviz.compute.compare.answer import answer

    text, bos, decoder = model.prompt
    with place, st.spinner(f"Asking {markdown_safe(model.title)}", show_time=True):
        yields = st.empty()
        try:
            model.answer = answer(loaded, text, bos=bos, decoder=decoder, pause=yields.empty)
            _keep_texts(loaded, model.answer.shape[0])
        except Refusal as refusal:
            model.refusal = refusal
    lru("answers").keep((loaded.key, model.prompt), model.answer or model.refusal)


def _keep_texts(loaded: LoadedModel, rows: int) -> None:
    if lru("texts").get(loaded.key) is None:
        from tiedviz.compute.compare.shared_tokens import token_texts

        lru("texts").keep(loaded.key, token_texts(loaded.vocabulary, rows))


def open_model(model: ComparedModel) -> LoadedModel | None:
    """The model's model, where it is open."""
    return None if model.source is None else model_pool().get(model.source.text)


def failure(model: ComparedModel) -> Refusal | None:
    """Why its last opening failed, if it did."""
    opening = None if model.source is None else model_pool().opening(model.source.text)
    return None if opening is None else opening.refusal


def ask_for(models: Sequence[ComparedModel], why: str) -> None:
    """Begin to open the models of these models, one after another.

    Args:
        models: whose models are wanted.
        why: "answers", or what else they are opened for.
    """
    names = [model.source.text for model in models if model.source is not None]
    for name in names:
        opening = model_pool().opening(name)
        if opening is not None and opening.refusal is not None:
            model_pool().forget(name)  # a failure that is tried again is no longer news
    st.session_state[_ASKED_KEY] = (why, list(dict.fromkeys(names)))


def asked_for(why: str) -> list[str]:
    """The models still wanted for this."""
    reason, names = st.session_state.get(_ASKED_KEY, ("", []))
    return list(names) if reason == why else []


def invitation(models: Sequence[ComparedModel], place: DeltaGenerator) -> None:
    """The button that opens what is missing, with its cost, where nothing is on its way."""
    waiting = _waiting(models)
    under_way = asked_for("answers") or any(is_opening(_source(model)) for model in waiting)
    if waiting and not under_way:
        with place:
            _button(waiting)


def run_model_queue(models: Sequence[ComparedModel], place: DeltaGenerator) -> None:
    """The next opening, where one is asked for, and its progress.

    Comes after everything that the open models are still needed for: it may let them go.
    """
    waiting = _waiting(models)
    with place:
        if go_on_opening("answers", waiting):
            return
        if on_its_way := next((model for model in waiting if is_opening(_source(model))), None):
            progress(_source(on_its_way), "page")


def _waiting(models: Sequence[ComparedModel]) -> list[ComparedModel]:
    return [model for model in models if model.waits and model.source is not None]


def go_on_opening(why: str, waiting: Sequence[ComparedModel]) -> bool:
    """Whether a model is being opened for this now; its progress is drawn.

    Args:
        why: as in `ask_for`.
        waiting: the models that still need their models open.
    """
    names = asked_for(why)
    wanted = [model for model in waiting if _source(model).text in names and failure(model) is None]
    if not wanted:
        if names:  # all are in, or have failed: the button comes back for what is still missing
            st.session_state.pop(_ASKED_KEY, None)
            if waiting:
                st.rerun()
        return False
    # what has been read needs no second opening if it goes meanwhile
    st.session_state[_ASKED_KEY] = (why, [_source(model).text for model in wanted])
    model = next((model for model in wanted if is_opening(_source(model))), wanted[0])
    if open_model(model) is None and not is_opening(_source(model)):
        model_pool().open(_source(model).text)
    progress(_source(model), "page")
    return True


def _source(model: ComparedModel) -> Source:
    assert model.source is not None  # a model without one waits for nothing
    return model.source


def open_button(waiting: Sequence[ComparedModel], label: str, why: str, key: str) -> None:
    """A button that opens the models of these models, with what that costs."""
    st.button(
        label,
        key=key,
        type="primary" if why == "answers" else "secondary",
        icon=":material/play_arrow:",
        on_click=ask_for,
        args=(list(waiting), why),
    )
    for line in _terms(waiting):
        st.caption(line)


def _button(waiting: Sequence[ComparedModel]) -> None:
    names = " and ".join(markdown_safe(model.title) for model in _once(waiting))
    # where the sidebar's model is among them the sidebar polls: one polling fragment on a screen
    asked = any(hub_is_thinking(_source(model)) for model in waiting)
    if asked and not hub_is_thinking(chosen_source()):
        _wait_for_the_hub(list(waiting))
    open_button(waiting, f"Open {names}", "answers", "open to compare")


@st.fragment(run_every=0.5)
def _wait_for_the_hub(waiting: list[ComparedModel]) -> None:
    if not any(hub_is_thinking(_source(model)) for model in waiting):
        st.rerun()
    st.caption("Asking the Hub …")


def _once(models: Sequence[ComparedModel]) -> list[ComparedModel]:
    return list({_source(model).text: model for model in models}.values())


def _terms(waiting: Sequence[ComparedModel]) -> list[str]:
    """What opening them takes, a line each, and whether they fit together."""
    lines, memory = [], 0
    for model in _once(waiting):
        try:
            cost: Cost | None = _source(model).cost(remote(_source(model)))
        except Refusal:
            continue  # its column says why
        words = "known once the Hub answers" if cost is None else cost.words
        source = model.source
        if isinstance(source, ShelfSource) and cost is not None and cost.download:
            words += f"; licence of the weights: {source.model.licence}"
        memory += 0 if cost is None else cost.memory
        lines.append(f"{markdown_safe(model.title)}: {words}")
    budget = model_pool().budget
    if memory > budget:
        lines.append(
            f"Together they are more than the {megabytes(budget)} that open models may take: each "
            "is opened, read, and let go for the next."
        )
    return lines
