"""What a model does with a prompt."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.models.progress import Report
from tiedviz.ui.kept import Kept

if TYPE_CHECKING:
    from tiedviz.compute.gradient_task import Sentence
    from tiedviz.compute.gradients import GradientSplit
    from tiedviz.compute.lens import Lens
    from tiedviz.compute.next_token.reading import Reading
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

Ids = tuple[tuple[int, ...], tuple[int, ...] | None]
"""Of the prompt, and of what a decoder has written."""


def reading(loaded: LoadedModel, prompt: Prompt, position: int, layer: int = -1) -> Reading:
    """The reading of one position, computed once. A run nobody waits for any more stops here."""
    with loaded.lock:
        st.empty()  # where a superseded run ends and lets the lock go
        return _reading(loaded.key, ids_of(prompt), position, layer, loaded)


def ids_of(prompt: Prompt) -> Ids:
    """What a reading is keyed by, beside the model."""
    written = prompt.decoder_ids
    return tuple(prompt.ids), None if written is None else tuple(written)


@st.cache_resource(max_entries=64, show_spinner=False)
def _reading(key: str, ids: Ids, position: int, layer: int, _loaded: LoadedModel) -> Reading:
    from tiedviz.compute.next_token.reading import read

    prompt, written = ids
    return read(_loaded, prompt, position=position, layer=layer, decoder_ids=written)


def lens(
    loaded: LoadedModel, prompt: Prompt, positions: tuple[int, ...], watched: tuple[int, ...]
) -> Lens:
    """The lens at some positions, computed once, with the same yield point as a reading."""
    with loaded.lock:
        st.empty()  # as above
        return _lens(loaded.key, ids_of(prompt), positions, watched, loaded)


@st.cache_resource(max_entries=24, show_spinner=False)
def _lens(
    key: str,
    ids: Ids,
    positions: tuple[int, ...],
    watched: tuple[int, ...],
    _loaded: LoadedModel,
) -> Lens:
    from tiedviz.compute.lens import lens

    prompt, written = ids
    return lens(_loaded, prompt, decoder_ids=written, positions=positions, watched=watched)


@st.cache_resource(show_spinner=False)
def _gradients() -> Kept:
    return Kept(24)


def _sentence_key(loaded: LoadedModel, sentence: Sentence) -> Hashable:
    return loaded.key, sentence.ids, sentence.decoder_ids, sentence.targets


def gradients_done(loaded: LoadedModel, sentence: Sentence) -> GradientSplit | None:
    """The split of this sentence, if somebody had it computed."""
    found: GradientSplit | None = _gradients().get(_sentence_key(loaded, sentence))
    return found


def run_gradients(loaded: LoadedModel, sentence: Sentence, report: Report) -> GradientSplit:
    """Compute it and keep it. A run nobody waits for any more stops inside.

    Raises:
        Refusal: as `compute.gradients.gradient_split`.
    """
    from tiedviz.compute.gradients import gradient_split

    found = gradient_split(loaded, sentence, report=report, pause=st.empty)
    _gradients().keep(_sentence_key(loaded, sentence), found)
    return found
