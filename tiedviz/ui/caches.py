"""Every cache of the app, with what it is keyed by and what bounds it.

| cache | holds | keyed by | bound |
|---|---|---|---|
| `residents` | open models | source | bytes, least recently used out (`TIEDVIZ_MODEL_MEMORY`) |
| `asked` | what the Hub said of a repository | id, revision | 200 |
| `LoadedModel.memo` | what was measured once on a model | lives and dies with the model | – |
| `files_verdict` | a verdict from files alone | name as typed | 64, one minute |
| `header_verdict` | a verdict from headers, no copies compared | path, sizes, times | 64 |
| `heard_files` | what a model's files declare and store | path, sizes, times | 64 |
| `reading` | one state and its logits | model key, ids, position, layer | 64 |
| `lens` | what every layer would say | model key, ids, positions, watched ids | 24 |
| `gradients` | splits of dL/dE, without the dense gradients | model key, sentence | 24 |
| `counts` | the parameters of a configuration, counted | its JSON text | 64 |

Models and tensors are never hashed (Streamlit samples big arrays when it does); they are passed
with a leading underscore beside the key that names them. Nothing cached is ever changed:
it is shared.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from tiedviz.models.hub.known import Asked
from tiedviz.models.progress import Report, Step
from tiedviz.models.residents import Residents

if TYPE_CHECKING:
    from pathlib import Path

    from tiedviz.compute.counts.counts import Counts
    from tiedviz.compute.gradients import GradientSplit, Sentence
    from tiedviz.compute.lens import Lens
    from tiedviz.compute.reading import Reading
    from tiedviz.compute.witnesses.hearing import Hearing
    from tiedviz.files.verdict.witnesses import Declared, Stored
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.progress import Report
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


@st.cache_data(max_entries=64, show_spinner=False)
def header_verdict(key: str, _files: Path) -> Hearing:
    """What the headers of these files say alone; reading them takes milliseconds.

    Args:
        key: identity of the files.

    Raises:
        FileRefusal: they cannot be read.
    """
    from tiedviz.compute.witnesses.hearing import hearing
    from tiedviz.files.verdict.audit import hear_files

    return hearing("", *hear_files(_files, most=0), None)


def _load(source: str, *, report: Report, make_room: Callable[[int], None]) -> LoadedModel:
    """Open a model and measure its unembedding, so that no page waits for that without a word."""
    from tiedviz.compute.unembedding import unembedding_of  # here: the first page needs no torch
    from tiedviz.models.loading import load

    loaded = load(source, report=report, make_room=make_room)
    report(Step("Measuring what turns its states into scores"))
    unembedding_of(loaded)
    return loaded


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


@st.cache_data(max_entries=64, show_spinner=False)
def counts(config: str, title: str) -> Counts:
    """The counts of a raw config.json, given as text.

    Raises:
        CountRefusal, CheckpointRefusal: it cannot be built.
    """
    import json

    from tiedviz.compute.counts.count import count_config

    return count_config(json.loads(config), title)


@st.cache_resource(show_spinner=False)
def _gradients() -> OrderedDict[tuple[Any, ...], GradientSplit]:
    return OrderedDict()


def _sentence_key(loaded: LoadedModel, sentence: Sentence) -> tuple[Any, ...]:
    return loaded.key, sentence.ids, sentence.decoder_ids, sentence.targets


def gradients_done(loaded: LoadedModel, sentence: Sentence) -> GradientSplit | None:
    """The split of this sentence, if somebody had it computed."""
    return _gradients().get(_sentence_key(loaded, sentence))


def run_gradients(loaded: LoadedModel, sentence: Sentence, report: Report) -> GradientSplit:
    """Compute it and keep it, the oldest of 24 out. A run nobody waits for any more stops inside.

    Raises:
        Refusal: as `compute.gradients.gradient_split`.
    """
    from tiedviz.compute.gradients import gradient_split

    found = gradient_split(loaded, sentence, report=report, pause=st.empty)
    kept = _gradients()
    kept[_sentence_key(loaded, sentence)] = found
    while len(kept) > 24:
        kept.popitem(last=False)
    return found
