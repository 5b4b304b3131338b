"""What the models answer: the likeliest texts, what each writes, and what two agree on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from tiedviz.charts.compare import answer_dots
from tiedviz.ui.caches import lru
from tiedviz.ui.compare.model_queue import open_model
from tiedviz.ui.compare.models import ComparedModel
from tiedviz.ui.continuing import (
    chips_meaning,
    continuation_chips,
    continuation_so_far,
    way_controls,
    write_on,
)
from tiedviz.ui.drawing import draw
from tiedviz.words.numbers import count, percent
from tiedviz.words.tokens import markdown_safe, readable, visible

if TYPE_CHECKING:
    from tiedviz.compute.compare.agreement import Agreement
    from tiedviz.compute.compare.shared_tokens import SharedTokens
    from tiedviz.compute.continuation import Continuation, Way


_ROWS = 12  # texts that are drawn; the table and the file have all

Written = dict[str, "Continuation"]
"""What each model wrote, by its letter."""


def dots(models: Sequence[ComparedModel]) -> pd.DataFrame | None:
    """Draw them. Returns the table, where at least one model has answered."""
    answered = [model for model in models if model.answer is not None]
    if not answered:
        return None
    frame = _frame(answered)
    st.subheader("What comes next", anchor=False)
    drawn = frame[frame["order"] < _ROWS]
    titles = {model.letter: model.title for model in answered}
    draw(st, answer_dots(drawn, titles), key="likeliest texts")
    st.caption(
        "Further right: likelier. Tokens are matched by the text they decode to; no dot: that "
        "model has no token for it. Texts among the ten likeliest of any model, at temperature 1."
    )
    with st.expander("As a table"):
        _table(frame, answered)
    return frame


def _frame(answered: Sequence[ComparedModel]) -> pd.DataFrame:
    name = ("table", tuple((model.letter, model.key, model.prompt) for model in answered))
    found = lru("shared").get(name)
    if found is None:
        from tiedviz.compute.compare.shared_tokens import likeliest_texts

        found = likeliest_texts(
            [model.letter for model in answered],
            [model.answer.probabilities for model in answered if model.answer is not None],
            [model.texts() for model in answered],
        )
        lru("shared").keep(name, found)
    frame: pd.DataFrame = found
    return frame


def _table(frame: pd.DataFrame, answered: Sequence[ComparedModel]) -> None:
    wide = frame.pivot(index="order", columns="letter", values="probability") * 100
    texts = frame.drop_duplicates("order").set_index("order")["text"]
    wide.insert(0, "text", texts)
    columns: dict[str, Any] = {"text": st.column_config.TextColumn("text")}
    for model in answered:
        columns[model.letter] = st.column_config.NumberColumn(
            f"{model.letter} · {model.title}", format="%.2f %%"
        )
    st.dataframe(
        wide,
        hide_index=True,
        column_config=columns,
        alt="The likeliest texts with the probability each model gives them",
    )


def greedy_so_far(answered: Sequence[ComparedModel], most: int) -> Written:
    """What is known of the greedy continuations, where another way is on the screen."""
    from tiedviz.compute.continuation import GREEDY

    found = {}
    for model in answered:
        if model.answer is not None and model.key is not None and model.answer.kind != "masked":
            known = continuation_so_far(model.key, model.answer.prompt, GREEDY, most)
            if known is not None and known.tokens:
                found[model.letter] = known
    return found


def continuations(answered: Sequence[ComparedModel]) -> tuple[Way, int, Written]:
    """Controls, and what each model writes; one that is open goes on until it is done."""
    st.subheader("Continue", anchor=False)
    way, most = way_controls()
    written: Written = {}
    columns = st.columns(len(answered), border=True)
    places = []
    for model, column in zip(answered, columns, strict=True):
        with column:
            st.markdown(f"**{model.letter}** {markdown_safe(model.title)}")
            places.append(st.empty())
    for model, place in zip(answered, places, strict=True):
        found = _continuation(model, place, way, most)
        if found is not None and found.tokens:
            written[model.letter] = found
    ended = [letter for letter, found in written.items() if found.ended]
    st.caption(
        chips_meaning(way.sampled, False)
        + (f" {' and '.join(ended)} ended the text without being stopped." if ended else "")
    )
    return way, most, written


def _continuation(
    model: ComparedModel, place: st.delta_generator.DeltaGenerator, way: Way, most: int
) -> Continuation | None:
    answer, key = model.answer, model.key
    if answer is None or key is None:
        return None
    if answer.kind == "masked":
        place.caption("It fills gaps and has no next token, so it continues nothing.")
        return None
    texts = model.texts()

    def show(found: Continuation) -> None:
        shown = [visible(texts[id] or b"") or f"mark #{id}" for id in found.ids]
        place.html(continuation_chips(shown, found, way.sampled))

    loaded = open_model(model)
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


def agreements(models: Sequence[ComparedModel]) -> dict[str, Any]:
    """Continuations and a sentence for each two models. Returns both, as plain values for a file.

    Keys: agreement, continuations (by letter).
    """
    answered = [model for model in models if model.answer is not None]
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


def shared_by(models: Sequence[ComparedModel]) -> SharedTokens:
    """The tokens that the vocabularies of these models have in common."""
    from tiedviz.compute.compare.shared_tokens import shared_tokens

    name = ("shared", tuple(model.key for model in models))
    found: SharedTokens | None = lru("shared").get(name)
    if found is None:
        found = shared_tokens([model.texts() for model in models])
        lru("shared").keep(name, found)
    return found


def _agreement(one: ComparedModel, other: ComparedModel, greedy: Written) -> Agreement:
    from tiedviz.compute.compare.agreement import WrittenText, agreement

    written = [greedy.get(model.letter) for model in (one, other)]
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
            else WrittenText(tuple(model.texts()[id] or b"" for id in each.text_ids), each.ended)
            for model, each in zip((one, other), written, strict=True)
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


def _record(one: ComparedModel, other: ComparedModel, found: Agreement) -> dict[str, Any]:
    from tiedviz.compute.compare.agreement import agreement_record

    return agreement_record(found, (one.named, other.named))


def _sentence(one: ComparedModel, other: ComparedModel, found: Agreement, greedy: Written) -> str:
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
    return f"{words} {_divergence_words(one, other, found, greedy)}"


def _divergence_words(
    one: ComparedModel, other: ComparedModel, found: Agreement, greedy: Written
) -> str:
    if found.divergence_point is None:
        silent = [model.letter for model in (one, other) if model.letter not in greedy]
        return f"{' and '.join(silent)} wrote nothing to compare." if silent else ""
    common = readable(found.divergence_point.common)
    begin = f"Greedily both begin “{markdown_safe(common)}”" if common else "Greedily"
    if not found.divergence_point.differ:
        return f"{begin} and do not part as far as they were continued."
    ways = [
        _next_words(model, greedy[model.letter], place)
        for model, place in zip((one, other), found.divergence_point.places, strict=True)
    ]
    return f"{begin}{' and part' if common else ' they part at once'}: {', '.join(ways)}."


def _next_words(model: ComparedModel, written: Continuation, place: int | None) -> str:
    if place is None:
        return f"{model.letter} ends"
    text = visible(model.texts()[written.ids[place]] or b"") or "∅"
    return f"{model.letter} with its token {place + 1}, {markdown_safe(text)}"
