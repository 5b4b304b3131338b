"""What two models agree on, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import streamlit as st

from tiedviz.ui.caches import lru
from tiedviz.ui.compare.seats import Seat
from tiedviz.ui.compare.write import Written, continuations, greedy_so_far, way_record
from tiedviz.words.numbers import count, percent
from tiedviz.words.tokens import markdown_safe, readable, visible

if TYPE_CHECKING:
    from tiedviz.compute.compare.agreement import Agreement
    from tiedviz.compute.compare.shared_tokens import Shared
    from tiedviz.compute.continuation import Continuation


def agreements(seats: Sequence[Seat]) -> dict[str, Any]:
    """Continuations and a sentence for each two models. Returns both, as plain values for a file.

    Keys: agreement, continuations (by letter).
    """
    answered = [seat for seat in seats if seat.answer is not None]
    if not answered:
        return {}
    place = st.container()
    way, most, written = continuations(answered)
    greedy = written if not way.sampled else greedy_so_far(answered, most)
    records = []
    with place:
        st.subheader("Agreement", anchor=False)
        if len(answered) == 1:
            st.caption("One answer has nothing to agree with yet.")
        for one, other in combinations(answered, 2):
            found = _agreement(one, other, greedy)
            st.markdown(_sentence(one, other, found, greedy))
            records.append(_record(one, other, found))
        if records:
            st.caption(
                "Only tokens both models know are compared, by the text they decode to; marks such "
                "as the end of text are left out. Jensen–Shannon divergence in bits: 0 is the same "
                "distribution, 1 nothing in common. "
                f"Texts written greedily are compared over up to {most} tokens each."
            )
    return {
        "agreement": records,
        "continuations": {letter: way_record(found, way) for letter, found in written.items()},
    }


def shared_by(seats: Sequence[Seat]) -> Shared:
    """The tokens that the vocabularies of these seats have in common."""
    from tiedviz.compute.compare.shared_tokens import shared_tokens

    name = ("shared", tuple(seat.key for seat in seats))
    found: Shared | None = lru("shared").get(name)
    if found is None:
        found = shared_tokens([seat.texts() for seat in seats])
        lru("shared").keep(name, found)
    return found


def _agreement(one: Seat, other: Seat, greedy: Written) -> Agreement:
    from tiedviz.compute.compare.agreement import Text, agreement

    written = [greedy.get(seat.letter) for seat in (one, other)]
    name = (
        "agreement",
        one.key,
        other.key,
        one.prompt,
        other.prompt,
        *(each and each.tokens for each in written),
    )
    found: Agreement | None = lru("shared").get(name)
    if found is None:
        texts = [
            None
            if each is None
            else Text(tuple(seat.texts()[id] or b"" for id in each.text_ids), each.ended)
            for seat, each in zip((one, other), written, strict=True)
        ]
        assert one.answer is not None and other.answer is not None
        found = agreement(
            [one.answer.probabilities, other.answer.probabilities],
            shared_by([one, other]),
            [one.texts(), other.texts()],
            texts,
        )
        lru("shared").keep(name, found)
    return found


def _record(one: Seat, other: Seat, found: Agreement) -> dict[str, Any]:
    from tiedviz.compute.compare.agreement import agreement_record

    return agreement_record(found, (one.named, other.named))


def _sentence(one: Seat, other: Seat, found: Agreement, greedy: Written) -> str:
    a, b = one.letter, other.letter
    first = "the likeliest among them" if found.same_first else "but not the likeliest"
    both = len(found.in_both)
    words = f"**{a} and {b}** share **{both} of {found.top}** likeliest texts"
    words += f", {first}" if both else ""
    if found.js_bits is None:
        words += "; they know no text in common that both find possible, so nothing is compared."
    else:
        left = [percent(max(0.0, each)) for each in found.left_out]
        words += (
            f"; Jensen–Shannon divergence **{found.js_bits:.3f} bits** over "
            f"{count(found.shared)} texts both know; the rest is {left[0]} of {a} and {left[1]} "
            f"of {b}."
        )
    return f"{words} {_parting(one, other, found, greedy)}"


def _parting(one: Seat, other: Seat, found: Agreement, greedy: Written) -> str:
    if found.parting is None:
        silent = [seat.letter for seat in (one, other) if seat.letter not in greedy]
        return f"{' and '.join(silent)} wrote nothing to compare." if silent else ""
    common = readable(found.parting.common)
    begin = f"Greedily both begin “{markdown_safe(common)}”" if common else "Greedily"
    if not found.parting.differ:
        return f"{begin} and do not part as far as they were continued."
    ways = [
        _next_words(seat, greedy[seat.letter], place)
        for seat, place in zip((one, other), found.parting.places, strict=True)
    ]
    return f"{begin}{' and part' if common else ' they part at once'}: {', '.join(ways)}."


def _next_words(seat: Seat, written: Continuation, place: int | None) -> str:
    if place is None:
        return f"{seat.letter} ends"
    text = visible(seat.texts()[written.ids[place]] or b"") or "∅"
    return f"{seat.letter} with its token {place + 1}, {markdown_safe(text)}"
