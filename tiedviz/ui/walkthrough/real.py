"""The right half: the model chosen in the sidebar, and a token of it that several steps share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.caches import scored_state
from tiedviz.ui.frame.model_choice import chosen_source
from tiedviz.ui.frame.opened_model import opened_or_invited
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import Token, markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

WORD_KEY = "walkthrough word"
_PIECE_KEY = "walkthrough piece"
PROMPT_KEY = "walkthrough prompt"
_FIRST_WORD = " unhappiness"


def real_title() -> str:
    """The heading of the right half: the chosen model's name, safe in Markdown."""
    try:
        return markdown_safe(chosen_source().title)
    except Refusal:
        return "A real model"  # what is wrong with the choice is said in the sidebar


def real_model(what_for: str) -> LoadedModel | None:
    """The chosen model, if it is open; else the way to open it is drawn, and None comes back."""
    return opened_or_invited(what_for)


def real_token(loaded: LoadedModel) -> Token:
    """A word is typed, its pieces are shown, one of them is picked. Kept from step to step.

    Raises:
        EmptyPrompt: the word has no piece.
        NoSuchRow: the tokenizer has more tokens than E has rows.
    """
    from tiedviz.compute.walkthrough.pieces import pieces_of

    text = st.text_input(
        "A word for this model's tokenizer",
        _FIRST_WORD,
        key=WORD_KEY,
        persist_state="session",
        help="A space in front counts: most tokenizers keep it with the word.",
    )
    pieces = pieces_of(loaded, text)
    chosen = st.session_state.get(_PIECE_KEY)
    if chosen is not None and not 0 <= chosen < len(pieces):
        st.session_state[_PIECE_KEY] = len(pieces) - 1
    picked = st.pills(
        "Its pieces, each with its ID",
        range(len(pieces)),
        format_func=lambda at: f"{markdown_safe(pieces[at].shown)} :gray[:small[{pieces[at].id}]]",
        default=None if chosen is not None else len(pieces) - 1,
        key=_PIECE_KEY,
        required=True,
        wrap=True,
        persist_state="session",
    )
    return pieces[len(pieces) - 1 if picked is None else int(picked)]


def real_prompt(loaded: LoadedModel, first: str) -> tuple[Prompt, ScoredState]:
    """A prompt is typed and read where this model answers. Kept from step to step.

    Args:
        loaded: the model.
        first: the prompt before anyone types.

    Raises:
        EmptyPrompt, PromptTooLong: there is nothing to run, or too much.
        NotReproduced, HeadMissing: its logits cannot be explained.
    """
    from tiedviz.models.prompt import encode

    text = st.text_input("A prompt", first, key=PROMPT_KEY, persist_state="session")
    prompt = encode(loaded, text)
    for note in prompt.notes:
        st.caption(f":material/info: {markdown_safe(note)}")
    return prompt, scored_state(loaded, prompt, prompt.place)
