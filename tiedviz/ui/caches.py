"""Every cache of the app, with what it is keyed by and what bounds it.

| cache | holds | keyed by | bound |
|---|---|---|---|
| `residents` | open models | source | bytes, least recently used out (`TIEDVIZ_MODEL_MEMORY`) |
| `asked` | what the Hub said of a repository | id, revision | 200 |
| `LoadedModel.memo` | what was measured once on a model | lives and dies with the model | – |
| `files_verdict` | a verdict from files alone | name as typed | 64, one minute |
| `heard_files` | what a model's files declare and store | path, sizes, times | 64 |
| `reading` | one state and its logits | model key, ids, position, layer | 64 |
| `lens` | what every layer would say | model key, ids, positions, watched ids | 24 |
| `kept_answers` | one model's answer to one prompt, or why there is none | model key, prompt | 48 |
| `kept_identities` | the folder and key a source last stood for | source | 200 |
| `kept_texts` | what the rows of a vocabulary stand for | model key | 12 |
| `kept_shared` | tokens that vocabularies share, agreements over them | model keys | 64 |
| `kept_geometry` | one table over shared tokens | keys of all, which of them | 32 |
| `kept_continuations` | what a model wrote after a prompt, so far | model key, ids, way | 200 |
| `counts` | the parameters of a configuration, counted | its JSON text | 64 |

Models and tensors are never hashed (Streamlit samples big arrays when it does); they are passed
with a leading underscore beside the key that names them. Nothing cached is ever changed:
it is shared.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import streamlit as st

from tiedviz.models.hub.known import Asked
from tiedviz.models.residents import Residents
from tiedviz.ui.kept import Kept

if TYPE_CHECKING:
    from tiedviz.compute.counts.counts import Counts
    from tiedviz.compute.lens import Lens
    from tiedviz.compute.reading import Reading
    from tiedviz.compute.witnesses.hearing import Hearing
    from tiedviz.files.verdict.witnesses import Declared, Stored
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

# Two stored copies up to this size are compared at once; more takes a button and a progress bar.
COMPARED_AT_ONCE = 100_000_000

_Ids = tuple[tuple[int, ...], tuple[int, ...] | None]


@st.cache_resource(show_spinner=False)
def residents() -> Residents:
    """The open models of this process, shared by all visitors."""
    return Residents(_load)


@st.cache_resource(show_spinner=False)
def asked() -> Asked:
    """What the Hub said about repositories, asked for in the background."""
    return Asked()


@st.cache_resource(show_spinner=False)
def _heard() -> OrderedDict[str, tuple[Declared, Stored]]:
    return OrderedDict()


def heard_files(key: str) -> tuple[Declared, Stored] | None:
    """What was heard of the files with this identity, or None."""
    return _heard().get(key)


def remember_heard(key: str, found: tuple[Declared, Stored]) -> None:
    """Keep what was heard, the oldest of 64 out."""
    heard = _heard()
    heard[key] = found
    while len(heard) > 64:
        heard.popitem(last=False)


@st.cache_data(max_entries=64, ttl=60, show_spinner=False)
def files_verdict(name: str) -> Hearing:
    """What the files of any model say, by its name; two copies are compared up to 100 MB.

    Kept for a minute, so that a rerun reads nothing again and a repaired file is soon seen.

    Raises:
        Refusal: they cannot be read.
    """
    from tiedviz.compute.witnesses.hearing import hear
    from tiedviz.models.progress import silent

    return hear(name, load=False, report=silent, most=COMPARED_AT_ONCE)


def _load(source: str, **options: Any) -> LoadedModel:
    from tiedviz.models.loading import load  # here, so that the first page needs no torch

    return load(source, **options)


def reading(loaded: LoadedModel, prompt: Prompt, position: int, layer: int = -1) -> Reading:
    """The reading of one position, computed once. A run nobody waits for any more stops here."""
    with loaded.lock:
        st.empty()  # where a superseded run ends and lets the lock go
        return _reading(loaded.key, _ids_of(prompt), position, layer, loaded)


def _ids_of(prompt: Prompt) -> _Ids:
    written = prompt.decoder_ids
    return tuple(prompt.ids), None if written is None else tuple(written)


@st.cache_resource(max_entries=64, show_spinner=False)
def _reading(key: str, ids: _Ids, position: int, layer: int, _loaded: LoadedModel) -> Reading:
    from tiedviz.compute.reading import read

    prompt, written = ids
    return read(_loaded, prompt, position=position, layer=layer, decoder_ids=written)


def lens(
    loaded: LoadedModel, prompt: Prompt, positions: tuple[int, ...], watched: tuple[int, ...]
) -> Lens:
    """The lens at some positions, computed once, with the same yield point as a reading."""
    with loaded.lock:
        st.empty()  # as above
        return _lens(loaded.key, _ids_of(prompt), positions, watched, loaded)


@st.cache_resource(max_entries=24, show_spinner=False)
def _lens(
    key: str,
    ids: _Ids,
    positions: tuple[int, ...],
    watched: tuple[int, ...],
    _loaded: LoadedModel,
) -> Lens:
    from tiedviz.compute.lens import lens

    prompt, written = ids
    return lens(_loaded, prompt, decoder_ids=written, positions=positions, watched=watched)


@st.cache_resource(show_spinner=False)
def kept_answers() -> Kept:
    """Answers of models that may be gone again."""
    return Kept(48)


@st.cache_resource(show_spinner=False)
def kept_texts() -> Kept:
    """Vocabularies as texts."""
    return Kept(12)


@st.cache_resource(show_spinner=False)
def kept_identities() -> Kept:
    """Which weights a source stood for, so that answers are found when its model is gone."""
    return Kept(200)


@st.cache_resource(show_spinner=False)
def kept_shared() -> Kept:
    """What several vocabularies have in common, and what two answers do."""
    return Kept(64)


@st.cache_resource(show_spinner=False)
def kept_geometry() -> Kept:
    """Tables measured."""
    return Kept(32)


@st.cache_resource(show_spinner=False)
def kept_continuations() -> Kept:
    """Texts that models wrote."""
    return Kept(200)


@st.cache_data(max_entries=64, show_spinner=False)
def counts(config: str, title: str) -> Counts:
    """The counts of a raw config.json, given as text.

    Raises:
        CountRefusal, CheckpointRefusal: it cannot be built.
    """
    import json

    from tiedviz.compute.counts.count import count_config

    return count_config(json.loads(config), title)
