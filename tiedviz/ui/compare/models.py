"""Which models are compared, the sidebar's and those in the box, and what is known of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.charts.compare import LETTERS
from tiedviz.files.access import identity
from tiedviz.models.sources import Source, find_source
from tiedviz.ui.caches import lru, model_pool
from tiedviz.ui.frame.model_choice import GPT2, HUB_EXAMPLES, MODEL_KEY, first_choice
from tiedviz.ui.prompt_bar import PROMPT_KEY, chosen_bos, decoder_box
from tiedviz.words.refusals import Refusal
from tiedviz.words.shelf import SHELF

if TYPE_CHECKING:
    from tiedviz.compute.compare.answer import Answer
    from tiedviz.compute.compare.shared_tokens import Texts
    from tiedviz.models.loaded import LoadedModel


WITH_KEY = "with"
_WRITTEN_KEY = "with, as in the link"


def chosen_others(partner: str) -> list[str]:
    """Draw the box. Returns what is chosen, as it would be typed.

    The box shows titles and the link holds names, so the link is read and written here: a box
    bound to the link would write its titles there.

    Args:
        partner: who is chosen where nobody chooses.
    """
    linked = st.query_params.get_all(WITH_KEY)
    if linked and linked != st.session_state.get(_WRITTEN_KEY):  # a link that is followed
        st.session_state[WITH_KEY] = _by_name(linked)
    elif WITH_KEY not in st.session_state:
        st.session_state[WITH_KEY] = [partner]
    chosen = st.session_state[WITH_KEY]
    options = list(dict.fromkeys([*SHELF, *HUB_EXAMPLES, *chosen]))
    labels = _labels(options)
    others = st.multiselect(
        "Compare the model in the sidebar with",
        options,
        format_func=lambda name: labels.get(name, name),
        key=WITH_KEY,
        persist_state="session",
        accept_new_options=True,
        max_selections=len(LETTERS) - 1,
        placeholder="one to three models: a shelf name, a Hub id, a path",
        help="Model A is the sidebar's. The same model may stand on both sides, for example at two "
        "revisions (OWNER/NAME@REVISION). Press Enter after each.",
    )
    _write_link(others, partner)
    return list(others)


def _by_name(linked: Sequence[str]) -> list[str]:
    """What a link names; links of earlier versions hold titles. No more than fit."""
    names = {model.title: name for name, model in SHELF.items()}
    return list(dict.fromkeys(names.get(each, each) for each in linked))[: len(LETTERS) - 1]


def _labels(options: Sequence[str]) -> dict[str, str]:
    """What each is called; the name beside the title where two have the same."""
    titles = {name: _title(name) for name in options}
    times = Counter(titles.values())
    return {
        name: title if times[title] == 1 else f"{title} ({name})" for name, title in titles.items()
    }


def _title(name: str) -> str:
    try:
        return find_source(name).title
    except Refusal:
        return name  # its column says what is wrong


def _write_link(others: Sequence[str], partner: str) -> None:
    """Keep the link in step; the choice that everybody begins with needs no place in it."""
    wanted = [] if list(others) == [partner] else list(others)
    if st.query_params.get_all(WITH_KEY) != wanted:
        if wanted:
            st.query_params[WITH_KEY] = wanted
        else:
            st.query_params.pop(WITH_KEY, None)
    st.session_state[_WRITTEN_KEY] = wanted


@dataclass
class ComparedModel:
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


def compared_models() -> list[ComparedModel]:
    """The models to compare: the sidebar's, and those in the box. Draws the boxes."""
    first = str(st.session_state.get(MODEL_KEY) or first_choice())
    others = chosen_others(_partner_of(first))
    asked = (str(st.session_state[PROMPT_KEY]), chosen_bos(), "")
    found = []
    for letter, named in zip(LETTERS, [first, *others], strict=False):
        model = ComparedModel(letter, named, asked)
        try:
            model.source = find_source(named)
        except Refusal as refusal:
            model.refusal = refusal
        found.append(model)
    _ask_decoders(found)
    for model in found:
        model.look_up()
    return found


def _partner_of(first: str) -> str:
    """Whom a model is compared with where nobody chooses."""
    if first == GPT2:
        return "EleutherAI/pythia-160m"
    return next(name for name in SHELF if name != first)


def _ask_decoders(found: list[ComparedModel]) -> None:
    """A box for what models with a decoder have written, where there is one; others ignore it."""
    known = [(model, model.source and _known(model.source)) for model in found]
    writing = [model for model, facts in known if facts and facts[1] == "seq2seq"]
    if not writing:
        return
    written = decoder_box()
    for model in writing:
        model.prompt = (*model.prompt[:2], written)
    if len(writing) < len(found):
        letters = " and ".join(model.letter for model in writing)
        st.caption(f"Read by {letters} alone: the others have no second part that writes.")
