"""What each model writes after the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from tiedviz.ui.compare.errands import open_model
from tiedviz.ui.compare.seats import Seat
from tiedviz.ui.continuing import (
    chips_meaning,
    continuation_chips,
    continuation_so_far,
    way_controls,
    write_on,
)
from tiedviz.words.tokens import markdown_safe, visible

if TYPE_CHECKING:
    from tiedviz.compute.continuation import Continuation, Way

Written = dict[str, "Continuation"]
"""What each model wrote, by its letter."""


def greedy_so_far(answered: Sequence[Seat], most: int) -> Written:
    """What is known of the greedy continuations, where another way is on the screen."""
    from tiedviz.compute.continuation import GREEDY

    found = {}
    for seat in answered:
        if seat.answer is not None and seat.key is not None and seat.answer.kind != "masked":
            known = continuation_so_far(seat.key, seat.answer.prompt, GREEDY, most)
            if known is not None and known.tokens:
                found[seat.letter] = known
    return found


def continuations(answered: Sequence[Seat]) -> tuple[Way, int, Written]:
    """Controls, and what each model writes; one that is open goes on until it is done."""
    st.subheader("Continue", anchor=False)
    way, most = way_controls()
    written: Written = {}
    columns = st.columns(len(answered), border=True)
    places = []
    for seat, column in zip(answered, columns, strict=True):
        with column:
            st.markdown(f"**{seat.letter}** {markdown_safe(seat.title)}")
            places.append(st.empty())
    for seat, place in zip(answered, places, strict=True):
        found = _continuation(seat, place, way, most)
        if found is not None and found.tokens:
            written[seat.letter] = found
    ended = [letter for letter, found in written.items() if found.ended]
    st.caption(
        chips_meaning(way.sampled, False)
        + (f" {' and '.join(ended)} ended the text without being stopped." if ended else "")
    )
    return way, most, written


def _continuation(
    seat: Seat, place: st.delta_generator.DeltaGenerator, way: Way, most: int
) -> Continuation | None:
    answer, key = seat.answer, seat.key
    if answer is None or key is None:
        return None
    if answer.kind == "masked":
        place.caption("It fills gaps and has no next token, so it continues nothing.")
        return None
    texts = seat.texts()

    def show(found: Continuation) -> None:
        shown = [visible(texts[id] or b"") or f"mark #{id}" for id in found.ids]
        place.html(continuation_chips(shown, found, way.sampled))

    loaded = open_model(seat)
    if loaded is not None:
        found: Continuation | None = write_on(loaded, answer.prompt, way, most, show)
    else:
        found = continuation_so_far(key, answer.prompt, way, most)
    if found is None or not found.tokens:
        place.caption("It was let go before it wrote this; open it again in the sidebar.")
        return found
    show(found)
    return found


def way_record(found: Continuation, way: Way) -> dict[str, Any]:
    """A continuation as plain values for a file."""
    return {
        "sampled": way.sampled,
        "ids": found.ids,
        "probabilities": [token.probability for token in found.tokens],
        "drawn_with": [token.drawn for token in found.tokens],
        "ended": found.ended,
    }
