"""Which models are compared, and what is known of each so far."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.compare import LETTERS
from tiedviz.files.access import identity
from tiedviz.models.sources import Source, find_source
from tiedviz.ui.caches import lru, model_pool
from tiedviz.ui.compare.others import chosen_others
from tiedviz.ui.frame.model_choice import GPT2, MODEL_KEY, first_choice
from tiedviz.ui.prompt_bar import PROMPT_KEY, chosen_bos, decoder_box
from tiedviz.words.refusals import Refusal

if TYPE_CHECKING:
    from tiedviz.compute.compare.answer import Answer
    from tiedviz.compute.compare.shared_tokens import Texts
    from tiedviz.models.loaded import LoadedModel

_PARTNERS = {GPT2: "EleutherAI/pythia-160m", "smollm2": "gemma-3-270m", "gemma-3-270m": "smollm2"}


@dataclass
class Seat:
    """One model's place in the comparison.

    Attributes:
        letter: A to D, by which it goes on this page.
        named: what it is asked for as.
        prompt: the text it is asked about, what to do about BOS, and what it has written so far,
            for a model with a decoder.
        source: what that names; None where it names nothing.
        refusal: why there is no answer and will be none.
        answer: what it said.
    """

    letter: str
    named: str
    prompt: tuple[str, str, str]
    source: Source | None = None
    refusal: Refusal | None = None
    answer: Answer | None = None

    @property
    def title(self) -> str:
        """What it is called."""
        return self.named if self.source is None else self.source.title

    @property
    def key(self) -> str | None:
        """The identity of its weights, where it has been open and its files are still those."""
        return None if self.source is None else identity_of(self.source)

    @property
    def waits(self) -> bool:
        """Whether its model would have to be open for an answer."""
        return self.answer is None and self.refusal is None

    def look_up(self) -> None:
        """Take the answer, or the refusal, where it is known already."""
        found = lru("answers").get((self.key, self.prompt)) if self.key else None
        if isinstance(found, Refusal):
            self.refusal = found
        elif found is not None and lru("texts").get(self.key) is not None:
            self.answer = found

    def texts(self) -> Texts:
        """What the rows of its vocabulary stand for. It has been open."""
        found: Texts = lru("texts").get(self.key)
        return found


def identity_of(source: Source) -> str | None:
    """The key of a model that is open, or was and is unchanged on disk; else None."""
    known = _known(source)
    return None if known is None else known[0]


def _known(source: Source) -> tuple[str, str] | None:
    """The key and the kind of a model that is open, or was and is unchanged on disk; else None."""
    if source.text in model_pool().names:
        loaded = model_pool().get(source.text)
        if loaded is not None:
            remember(source, loaded)
            return loaded.key, str(loaded.kind)
    known = lru("identities").get(source.text)
    if known is None:
        return None
    folder, key, kind = known
    return (key, kind) if folder.is_dir() and key.startswith(identity(folder)) else None


def remember(source: Source, loaded: LoadedModel) -> str:
    """Keep which weights `source` stood for, so that answers are found after it is gone."""
    folder: Path = loaded.folder
    lru("identities").keep(source.text, (folder, loaded.key, str(loaded.kind)))
    return loaded.key


def seats() -> list[Seat]:
    """The models to compare: the sidebar's, and those in the box. Draws the boxes."""
    first = str(st.session_state.get(MODEL_KEY) or first_choice())
    others = chosen_others(_PARTNERS.get(first, "smollm2"))
    asked = (str(st.session_state[PROMPT_KEY]), chosen_bos(), "")
    found = []
    for letter, named in zip(LETTERS, [first, *others], strict=False):
        seat = Seat(letter, named, asked)
        try:
            seat.source = find_source(named)
        except Refusal as refusal:
            seat.refusal = refusal
        found.append(seat)
    _ask_decoders(found)
    for seat in found:
        seat.look_up()
    return found


def _ask_decoders(found: list[Seat]) -> None:
    """A box for what models with a decoder have written, where there is one; others ignore it."""
    known = [(seat, seat.source and _known(seat.source)) for seat in found]
    writing = [seat for seat, facts in known if facts and facts[1] == "seq2seq"]
    if not writing:
        return
    written = decoder_box()
    for seat in writing:
        seat.prompt = (*seat.prompt[:2], written)
    if len(writing) < len(found):
        letters = " and ".join(seat.letter for seat in writing)
        st.caption(f"Read by {letters} alone: the others have no second part that writes.")
