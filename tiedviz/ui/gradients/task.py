"""What is read and what each position is asked for, before anything is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.prompt_bar import PROMPT_KEY, chosen_bos
from tiedviz.words.numbers import plural
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.gradient_task import Sentence
    from tiedviz.models.loaded import LoadedModel

TARGET_KEY = "target"


def task(loaded: LoadedModel) -> Sentence:
    """The sentence as tokens with their targets, and the caption that says how the loss is taken.

    Raises:
        PromptRefusal, PromptTooLong, GradientRefusal: there is nothing to run, or too much.
    """
    from tiedviz.compute.gradient_task import sentence_of
    from tiedviz.models.prompt import Bos

    target = _target_box() if loaded.kind == "seq2seq" else ""
    typed = st.session_state[PROMPT_KEY]
    sentence = sentence_of(loaded, typed, Bos(chosen_bos()), target)
    _chips(loaded, sentence)
    st.caption(
        f"{sentence.words} {plural(len(sentence.targets), 'position')} "
        f"{'enters' if len(sentence.targets) == 1 else 'enter'} the mean."
    )
    for note in sentence.notes:
        st.caption(f":material/info: {markdown_safe(note)}")
    return sentence


def _target_box() -> str:
    return str(
        st.text_input(
            "Asked of the decoder",
            key=TARGET_KEY,
            bind="query-params",
            help="This model reads with one part and writes with another. Empty: it is asked to "
            "write what it read.",
        )
    )


def _chips(loaded: LoadedModel, sentence: Sentence) -> None:
    """The tokens that are asked for, each with its id; equal texts differ in that."""
    targets = loaded.vocabulary.tokens(list(sentence.targets))
    words = [f"{markdown_safe(token.shown)} :gray[:small[{token.id}]]" for token in targets]
    st.markdown(":gray[Asked for] " + " :gray[·] ".join(words))
