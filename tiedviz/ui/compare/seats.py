"""Which models are compared, and what is known of each so far."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.compare import LETTERS
from tiedviz.models.identity import identity
from tiedviz.models.sources import Source, find_source
from tiedviz.ui.caches import kept_answers, kept_identities, kept_texts, residents
from tiedviz.ui.frame.choice import HUB_EXAMPLES, MODEL_KEY
from tiedviz.ui.frame.first_choice import GPT2, first_choice
from tiedviz.ui.prompt_bar import PROMPT_KEY, chosen_bos
from tiedviz.words.refusals import Refusal
from tiedviz.words.shelf import SHELF

if TYPE_CHECKING:
    from tiedviz.compute.compare.answer import Answer
    from tiedviz.compute.compare.shared_tokens import Texts
    from tiedviz.models.loaded import LoadedModel

WITH_KEY = "with"
_PARTNERS = {GPT2: "EleutherAI/pythia-160m", "smollm2": "gemma-3-270m", "gemma-3-270m": "smollm2"}


@dataclass
class Seat:
    """One model's place in the comparison.

    Attributes:
        letter: A to D, by which it goes on this page.
        named: what it is asked for as.
        prompt: the text it is asked about, and what to do about BOS.
        source: what that names; None where it names nothing.
        refusal: why there is no answer and will be none.
        answer: what it said.
    """

    letter: str
    named: str
    prompt: tuple[str, str]
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
        found = kept_answers().get((self.key, self.prompt)) if self.key else None
        if isinstance(found, Refusal):
            self.refusal = found
        elif found is not None and kept_texts().get(self.key) is not None:
            self.answer = found

    def texts(self) -> Texts:
        """What the rows of its vocabulary stand for. It has been open."""
        found: Texts = kept_texts().get(self.key)
        return found


def identity_of(source: Source) -> str | None:
    """The key of a model that is open, or was and is unchanged on disk; else None."""
    if source.text in residents().names:
        loaded = residents().get(source.text)
        if loaded is not None:
            return remember(source, loaded)
    known = kept_identities().get(source.text)
    if known is None:
        return None
    folder, key = known
    return key if folder.is_dir() and key.startswith(identity(folder)) else None


def remember(source: Source, loaded: LoadedModel) -> str:
    """Keep which weights `source` stood for, so that answers are found after it is gone."""
    folder: Path = loaded.folder
    kept_identities().keep(source.text, (folder, loaded.key))
    return loaded.key


def seats() -> list[Seat]:
    """The models to compare: the sidebar's, and those in the box. Draws the box."""
    first = str(st.session_state.get(MODEL_KEY) or first_choice())
    others = _box(first)
    asked = (str(st.session_state[PROMPT_KEY]), chosen_bos())
    found = []
    for letter, named in zip(LETTERS, [first, *others], strict=False):
        seat = Seat(letter, named, asked)
        try:
            seat.source = find_source(named)
        except Refusal as refusal:
            seat.refusal = refusal
        seat.look_up()
        found.append(seat)
    return found


def _box(first: str) -> list[str]:
    named = st.query_params.get_all(WITH_KEY)
    chosen = [*st.session_state.get(WITH_KEY, []), *named]
    options = list(dict.fromkeys([*SHELF, *HUB_EXAMPLES, *chosen]))
    partner = _PARTNERS.get(first, "smollm2")
    others = st.multiselect(
        "Compare the model in the sidebar with",
        options,
        default=[partner],
        key=WITH_KEY,
        bind="query-params",
        accept_new_options=True,
        max_selections=len(LETTERS) - 1,
        placeholder="one to three models: a shelf name, a Hub id, a path",
        help="Model A is the sidebar's. The same model may stand on both sides, for example at two "
        "revisions (OWNER/NAME@REVISION). Press Enter after each.",
    )
    return list(others)
