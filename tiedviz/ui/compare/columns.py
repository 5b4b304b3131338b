"""A column for each model: verdict, parameters on one scale, what it read, what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.compare import letter_colour, parameter_bar
from tiedviz.charts.palette import LIVE, OTHER, faded
from tiedviz.models.known import KnownFacts, known_facts
from tiedviz.models.sources import HubSource
from tiedviz.ui.compare.errands import failure, open_model, read_if_open
from tiedviz.ui.compare.facts import (
    Facts,
    facts_of_answer,
    facts_of_row,
    facts_of_source,
    pair_in_words,
)
from tiedviz.ui.compare.seats import Seat
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame import show_refusal
from tiedviz.ui.frame.model_choice import remote
from tiedviz.words.catalogue import find_row
from tiedviz.words.numbers import count, percent, short_count
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.compare.answer import Answer

_CHIP = (
    "display:inline-block;margin:0 .25rem .3rem 0;padding:.05rem .35rem;border-radius:.35rem;"
    f"border:1px solid {faded(OTHER, 0.55)};font-family:monospace;font-size:.85rem"
)
_SHOWN = 40  # tokens of a long prompt that are drawn, from its end


def columns(seats: Sequence[Seat]) -> None:
    """Draw them. A model that is open and was not asked yet is asked here."""
    places = st.columns(len(seats), border=True)
    for seat, place in zip(seats, places, strict=True):
        with place:
            colour = letter_colour(seat.letter)
            st.html(
                f"<div style='font-size:1.15rem;font-weight:600'><span style='background:{colour};"
                "color:white;border-radius:50%;padding:.05rem .5rem;margin-right:.4rem;"
                f"font-size:.9rem'>{seat.letter}</span>{escape(seat.title)}</div>"
            )
            inside = st.container()
        read_if_open(seat, inside)
    known = [(seat, *_facts(seat)) for seat in seats]
    longest = max([facts.total for _, facts, _ in known if facts is not None], default=1)
    for (seat, facts, refusal), place in zip(known, places, strict=True):
        with place:
            _column(seat, facts, refusal, longest)
    sizes = [facts for _, facts, _ in known]
    if len(sizes) == 2 and sizes[0] is not None and sizes[1] is not None:
        st.caption(pair_in_words(sizes[0], sizes[1]))


def _facts(seat: Seat) -> tuple[Facts | None, Refusal | None]:
    """Its numbers, as well as they are known, and why not better where something refused."""
    if seat.answer is not None:
        return facts_of_answer(seat.answer), None
    source, refusal = seat.source, None
    if source is None:
        return None, None
    try:
        found: KnownFacts | None = known_facts(source, remote(source))
    except Refusal as said:
        found, refusal = None, said
    if found is not None:
        return facts_of_source(found), refusal
    row = find_row(source.repo) if isinstance(source, HubSource) else None
    return (None if row is None else facts_of_row(row)), refusal


def _column(seat: Seat, facts: Facts | None, refusal: Refusal | None, longest: int) -> None:
    if facts is not None:
        _numbers(seat, facts, longest)
    for said in (seat.refusal, failure(seat), refusal):
        if said is not None:
            show_refusal(said)
            break
    if seat.answer is not None:
        _tokens(seat.answer)
        if open_model(seat) is None:
            st.caption("Not open any more; this is what it said.")
    elif seat.waits:
        st.caption("Not asked yet.")


def _numbers(seat: Seat, facts: Facts, longest: int) -> None:
    st.markdown(f"**{markdown_safe(facts.verdict)}** · {markdown_safe(facts.shape)}")
    draw(st, parameter_bar(facts.parts, longest), key=f"parameters of {seat.letter}")
    st.caption(
        f"{count(facts.total)} parameters ({short_count(facts.total)}), {percent(facts.share)} in "
        f"E{' and W' if 'W' in facts.parts else ''}; {markdown_safe(facts.origin)}."
    )


def _tokens(answer: Answer) -> None:
    """What it read, as chips; the place where it was read last or marked."""
    read = answer.prompt.tokens
    first = max(0, len(read) - _SHOWN)
    chips = [
        f"<span style='{_CHIP}{_mark(answer, first + at)}' title='id {token.id}'>"
        f"{escape(token.shown)}</span>"
        for at, token in enumerate(read[first:])
    ]
    st.html(("… " if first else "") + "".join(chips))
    place = "at the mask" if answer.kind == "masked" else "after the last"
    if answer.prompt.written is not None:
        place = "at the beginning of its answer"
    st.caption(f"{len(read)} tokens, read {place}.")
    for note in answer.notes:
        st.caption(f":material/info: {markdown_safe(note)}")


def _mark(answer: Answer, position: int) -> str:
    here = answer.prompt.written is None and position == answer.position
    return f";border:2px solid {LIVE}" if here else ""
