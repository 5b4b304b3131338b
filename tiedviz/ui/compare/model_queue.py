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
from tiedviz.ui.compare.models import Seat
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


def read_if_open(seat: Seat, place: DeltaGenerator) -> None:
    """Read the prompt with the seat's model where it is open and has not been asked yet."""
    loaded = open_model(seat)
    if loaded is None or not seat.waits:
        return
    from tiedviz.compute.compare.answer import answer

    text, bos, decoder = seat.prompt
    with place, st.spinner(f"Asking {markdown_safe(seat.title)}", show_time=True):
        yields = st.empty()
        try:
            seat.answer = answer(loaded, text, bos=bos, decoder=decoder, pause=yields.empty)
            _keep_texts(loaded, seat.answer.shape[0])
        except Refusal as refusal:
            seat.refusal = refusal
    lru("answers").keep((loaded.key, seat.prompt), seat.answer or seat.refusal)


def _keep_texts(loaded: LoadedModel, rows: int) -> None:
    if lru("texts").get(loaded.key) is None:
        from tiedviz.compute.compare.shared_tokens import token_texts

        lru("texts").keep(loaded.key, token_texts(loaded.vocabulary, rows))


def open_model(seat: Seat) -> LoadedModel | None:
    """The seat's model, where it is open."""
    return None if seat.source is None else model_pool().get(seat.source.text)


def failure(seat: Seat) -> Refusal | None:
    """Why its last opening failed, if it did."""
    opening = None if seat.source is None else model_pool().opening(seat.source.text)
    return None if opening is None else opening.refusal


def ask_for(seats: Sequence[Seat], why: str) -> None:
    """Begin to open the models of these seats, one after another.

    Args:
        seats: whose models are wanted.
        why: "answers", or what else they are opened for.
    """
    names = [seat.source.text for seat in seats if seat.source is not None]
    for name in names:
        opening = model_pool().opening(name)
        if opening is not None and opening.refusal is not None:
            model_pool().forget(name)  # a failure that is tried again is no longer news
    st.session_state[_ASKED_KEY] = (why, list(dict.fromkeys(names)))


def asked_for(why: str) -> list[str]:
    """The models still wanted for this."""
    reason, names = st.session_state.get(_ASKED_KEY, ("", []))
    return list(names) if reason == why else []


def invitation(seats: Sequence[Seat], place: DeltaGenerator) -> None:
    """The button that opens what is missing, with its cost, where nothing is on its way."""
    waiting = _waiting(seats)
    under_way = asked_for("answers") or any(is_opening(_source(seat)) for seat in waiting)
    if waiting and not under_way:
        with place:
            _button(waiting)


def run_errands(seats: Sequence[Seat], place: DeltaGenerator) -> None:
    """The next opening, where one is asked for, and its progress.

    Comes after everything that the open models are still needed for: it may let them go.
    """
    waiting = _waiting(seats)
    with place:
        if go_on_opening("answers", waiting):
            return
        if on_its_way := next((seat for seat in waiting if is_opening(_source(seat))), None):
            progress(_source(on_its_way), "page")


def _waiting(seats: Sequence[Seat]) -> list[Seat]:
    return [seat for seat in seats if seat.waits and seat.source is not None]


def go_on_opening(why: str, waiting: Sequence[Seat]) -> bool:
    """Whether a model is being opened for this now; its progress is drawn.

    Args:
        why: as in `ask_for`.
        waiting: the seats that still need their models open.
    """
    names = asked_for(why)
    wanted = [seat for seat in waiting if _source(seat).text in names and failure(seat) is None]
    if not wanted:
        if names:  # all are in, or have failed: the button comes back for what is still missing
            st.session_state.pop(_ASKED_KEY, None)
            if waiting:
                st.rerun()
        return False
    # what has been read needs no second opening if it goes meanwhile
    st.session_state[_ASKED_KEY] = (why, [_source(seat).text for seat in wanted])
    seat = next((seat for seat in wanted if is_opening(_source(seat))), wanted[0])
    if open_model(seat) is None and not is_opening(_source(seat)):
        model_pool().open(_source(seat).text)
    progress(_source(seat), "page")
    return True


def _source(seat: Seat) -> Source:
    assert seat.source is not None  # a seat without one waits for nothing
    return seat.source


def open_button(waiting: Sequence[Seat], label: str, why: str, key: str) -> None:
    """A button that opens the models of these seats, with what that costs."""
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


def _button(waiting: Sequence[Seat]) -> None:
    names = " and ".join(markdown_safe(seat.title) for seat in _once(waiting))
    # where the sidebar's model is among them the sidebar polls: one polling fragment on a screen
    asked = any(hub_is_thinking(_source(seat)) for seat in waiting)
    if asked and not hub_is_thinking(chosen_source()):
        _wait_for_the_hub(list(waiting))
    open_button(waiting, f"Open {names}", "answers", "open to compare")


@st.fragment(run_every=0.5)
def _wait_for_the_hub(waiting: list[Seat]) -> None:
    if not any(hub_is_thinking(_source(seat)) for seat in waiting):
        st.rerun()
    st.caption("Asking the Hub …")


def _once(seats: Sequence[Seat]) -> list[Seat]:
    return list({_source(seat).text: seat for seat in seats}.values())


def _terms(waiting: Sequence[Seat]) -> list[str]:
    """What opening them takes, a line each, and whether they fit together."""
    lines, memory = [], 0
    for seat in _once(waiting):
        try:
            cost: Cost | None = _source(seat).cost(remote(_source(seat)))
        except Refusal:
            continue  # its column says why
        words = "known once the Hub answers" if cost is None else cost.words
        source = seat.source
        if isinstance(source, ShelfSource) and cost is not None and cost.download:
            words += f"; licence of the weights: {source.model.licence}"
        memory += 0 if cost is None else cost.memory
        lines.append(f"{markdown_safe(seat.title)}: {words}")
    budget = model_pool().budget
    if memory > budget:
        lines.append(
            f"Together they are more than the {megabytes(budget)} that open models may take: each "
            "is opened, read, and let go for the next."
        )
    return lines
