"""What steps share: the toy's tables on the left, the model's word and prompt on the right.

All of it is kept from step to step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.compute.toy import DIMENSIONS, LARGEST, TOY_WORDS, Toy, read_cells
from tiedviz.compute.toy_training import Weights
from tiedviz.ui.caches import scored_state
from tiedviz.ui.frame.model_choice import chosen_source
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import Token, markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

WORD_KEY = "toy word"
TARGET_KEY = "toy target"
_KEPT = "toy as edited"
_BASES = "toy as the editors were given it"
_ROUND = "toy resets"
REAL_WORD_KEY = "walkthrough word"
_PIECE_KEY = "walkthrough piece"
PROMPT_KEY = "walkthrough prompt"
_FIRST_WORD = " unhappiness"


def toy_editor(*, state: bool) -> Toy:
    """The editable tables. Returns the toy as it is now, the same for all steps.

    Args:
        state: whether h_L is edited as well as E.
    """
    st.markdown("**E**, one row for each word")
    _editor("E")
    if state:
        st.markdown("**h_L**, the state after the blocks and the final norm")
        _editor("h")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Edit any number; all else follows.", width="content")
        st.button(
            "Reset",
            icon=":material/restart_alt:",
            type="tertiary",
            key="reset the toy",
            help="The toy's own numbers again, and the first word.",
            on_click=_reset,
        )
    toy, notes = _read()
    for note in notes:
        st.warning(note, icon=":material/edit:")
    return toy


def current_toy() -> Toy:
    """The toy as it was edited, where a step only shows it."""
    return _read()[0]


def put_toy(toy: Toy) -> None:
    """Put other numbers into the tables, as if they had been typed."""
    st.session_state[_KEPT] = toy.frames()
    st.session_state.pop(_BASES, None)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def word_pills(toy: Toy, label: str, key: str = WORD_KEY, first: int = 2) -> int:
    """One of the toy's words, by id; the choice is kept from step to step."""
    chosen = st.pills(
        label,
        range(toy.V),
        format_func=lambda id: f"{toy.words[id]} :gray[:small[{id}]]",
        default=first,
        key=key,
        required=True,
        persist_state="session",
    )
    return int(first if chosen is None else chosen)


def weights_control(label: str) -> Weights:
    """Tied, an equal copy, or separate; the choice is kept from step to step."""
    chosen = st.segmented_control(
        label,
        [each.value for each in Weights],
        default=Weights.TIED.value,
        key="toy weights",
        required=True,
        persist_state="session",
        help="tied: E itself. equal copy: another table that starts with E's numbers. separate: a "
        "table with numbers of its own.",
    )
    return Weights(chosen or Weights.TIED)


def _editor(name: str) -> None:
    """One table. Its widget holds the edits while it is on the screen, the session afterwards."""
    key = f"toy {name} {st.session_state.get(_ROUND, 0)}"
    bases = st.session_state.setdefault(_BASES, {})
    if key not in st.session_state or name not in bases:
        bases[name] = _kept()[name]
    _kept()[name] = st.data_editor(
        bases[name],
        key=key,
        disabled=["_index"],
        column_config={
            column: st.column_config.NumberColumn(
                column, min_value=-LARGEST, max_value=LARGEST, step=0.001, format="%.4g"
            )
            for column in DIMENSIONS
        },
        alt=f"{name} of the toy, editable",
    )


def _kept() -> dict[str, pd.DataFrame]:
    """The tables as they were last edited, E and h."""
    kept: dict[str, pd.DataFrame] = st.session_state.setdefault(_KEPT, Toy.published().frames())
    return kept


def _read() -> tuple[Toy, list[str]]:
    E, of_rows = read_cells(_kept()["E"])
    h, of_state = read_cells(_kept()["h"])
    return Toy(TOY_WORDS, E, h[0]), of_rows + of_state


def _reset() -> None:
    for name in (_KEPT, _BASES, WORD_KEY, TARGET_KEY):
        st.session_state.pop(name, None)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def real_title() -> str:
    """The heading of the right half: the chosen model's name, safe in Markdown."""
    try:
        return markdown_safe(chosen_source().title)
    except Refusal:
        return "A real model"  # what is wrong with the choice is said in the sidebar


def real_token(loaded: LoadedModel) -> Token:
    """A word is typed, its pieces are shown, one of them is picked. Kept from step to step.

    Raises:
        PromptRefusal: the word has no piece, or the tokenizer has more tokens than E has rows.
    """
    from tiedviz.compute.walkthrough_rows import pieces_of

    text = st.text_input(
        "A word for this model's tokenizer",
        _FIRST_WORD,
        key=REAL_WORD_KEY,
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
        PromptRefusal, PromptTooLong: there is nothing to run, or too much.
        ModelRefusal: its logits cannot be explained.
    """
    from tiedviz.models.prompt import encode

    text = st.text_input("A prompt", first, key=PROMPT_KEY, persist_state="session")
    prompt = encode(loaded, text)
    for note in prompt.notes:
        st.caption(f":material/info: {markdown_safe(note)}")
    return prompt, scored_state(loaded, prompt, prompt.place)
