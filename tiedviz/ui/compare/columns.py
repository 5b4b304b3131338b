"""A column for each model: verdict, parameters on one scale, what it read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.compare import letter_colour, parameter_bar
from tiedviz.charts.palette import LIVE, OTHER, faded
from tiedviz.models.known import KnownFacts, known_facts
from tiedviz.models.sources import HubSource
from tiedviz.ui.compare.model_queue import failure, open_model, read_if_open
from tiedviz.ui.compare.models import ComparedModel
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame import show_refusal
from tiedviz.ui.frame.model_choice import remote
from tiedviz.words.catalogue import CatalogueRow, find_row
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


@dataclass(frozen=True)
class ColumnFacts:
    """What a column shows above its tokens.

    Attributes:
        verdict: one word or a few.
        rows, width, layers: V, d, L; L is None where nothing says.
        parts: numbers of E, of W where it is another matrix, and of the rest.
        origin: where they were read.
    """

    verdict: str
    rows: int
    width: int
    layers: int | None
    parts: dict[str, int]
    origin: str

    @property
    def shape(self) -> str:
        """V, d and L in one line."""
        layers = "" if self.layers is None else f" · L {self.layers}"
        return f"V {self.rows:,} · d {self.width:,}{layers}"

    @property
    def tied(self) -> bool:
        """Whether one table does both jobs."""
        return "W" not in self.parts

    @property
    def total(self) -> int:
        """All parameters, each once."""
        return sum(self.parts.values())

    @property
    def rest(self) -> int:
        """What lies in neither table."""
        return self.parts["blocks and the rest"]

    @property
    def share(self) -> float:
        """The part in E, and in W where it is another matrix."""
        return (self.total - self.rest) / self.total if self.total else 0.0


def facts_of_answer(answer: Answer) -> ColumnFacts:
    """All four witnesses heard."""
    verdict = answer.audit.verdict
    costs = verdict.costs
    parts = _parts(costs.embedding, costs.head, costs.total)
    word = verdict.word.replace("_", " ").capitalize()
    return ColumnFacts(
        word, *answer.shape, answer.layers, parts, f"counted in memory, {answer.record['dtype']}"
    )


def facts_of_source(found: KnownFacts) -> ColumnFacts | None:
    """From the file's headers, or what a shelf model's publisher states; None where E is not."""
    if found.V is None or found.d is None:
        return None
    table = found.V * found.d
    head = 0 if found.stores_one_table else table
    word = "One table" if found.stores_one_table else "Two tables"
    return ColumnFacts(
        word,
        found.V,
        found.d,
        found.layers,
        _parts(table, head, found.parameters),
        found.origin,
    )


def facts_of_row(row: CatalogueRow) -> ColumnFacts:
    """As published."""
    return ColumnFacts(
        "Tied" if row.tied else "Untied",
        row.V,
        row.d,
        row.layers,
        _parts(row.parts.embedding, row.parts.head, row.total),
        "published config, not read from a file",
    )


def _parts(embedding: int, head: int, total: int) -> dict[str, int]:
    tables = {"E": embedding, "W": head} if head else {"E, tied": embedding}
    return tables | {"blocks and the rest": max(0, total - embedding - head)}


def pair_in_words(one: ColumnFacts, other: ColumnFacts) -> str:
    """How two models differ in their tables, as a sentence; empty where there is little to say."""
    if one.tied and other.tied:
        return "Both are tied: one table each."
    if not one.tied and not other.tied:
        return "Both are untied: two tables each."
    tied, untied = (one, other) if one.tied else (other, one)
    extra = f"the untied one holds {short_count(untied.parts['W'])} parameters more for its W"
    if tied.width == untied.width and tied.layers == untied.layers:
        apart = "one table apart" if _alike(tied.rest, untied.rest) else "not only a table apart"
        return f"Same d and L, {apart}: {extra}."
    return f"One is tied, one is not: {extra}."


def _alike(one: int, other: int) -> bool:
    """Whether two bodies are of one size, but for positions and norms."""
    return abs(one - other) <= 0.02 * max(one, other)


def columns(models: Sequence[ComparedModel]) -> None:
    """Draw them. A model that is open and was not asked yet is asked here."""
    places = st.columns(len(models), border=True)
    for model, place in zip(models, places, strict=True):
        with place:
            colour = letter_colour(model.letter)
            st.html(
                f"<div style='font-size:1.15rem;font-weight:600'><span style='background:{colour};"
                "color:white;border-radius:50%;padding:.05rem .5rem;margin-right:.4rem;"
                f"font-size:.9rem'>{model.letter}</span>{escape(model.title)}</div>"
            )
            inside = st.container()
        read_if_open(model, inside)
    known = [(model, *_facts(model)) for model in models]
    longest = max([facts.total for _, facts, _ in known if facts is not None], default=1)
    for (model, facts, refusal), place in zip(known, places, strict=True):
        with place:
            _column(model, facts, refusal, longest)
    sizes = [facts for _, facts, _ in known]
    if len(sizes) == 2 and sizes[0] is not None and sizes[1] is not None:
        st.caption(pair_in_words(sizes[0], sizes[1]))


def _facts(model: ComparedModel) -> tuple[ColumnFacts | None, Refusal | None]:
    """Its numbers, as well as they are known, and why not better where something refused."""
    if model.answer is not None:
        return facts_of_answer(model.answer), None
    source, refusal = model.source, None
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


def _column(
    model: ComparedModel, facts: ColumnFacts | None, refusal: Refusal | None, longest: int
) -> None:
    if facts is not None:
        _numbers(model, facts, longest)
    for said in (model.refusal, failure(model), refusal):
        if said is not None:
            show_refusal(said)
            break
    if model.answer is not None:
        _tokens(model.answer)
        if open_model(model) is None:
            st.caption("Not open any more; this is what it said.")
    elif model.waits:
        st.caption("Not asked yet.")


def _numbers(model: ComparedModel, facts: ColumnFacts, longest: int) -> None:
    st.markdown(f"**{markdown_safe(facts.verdict)}** · {markdown_safe(facts.shape)}")
    draw(st, parameter_bar(facts.parts, longest), key=f"parameters of {model.letter}")
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
