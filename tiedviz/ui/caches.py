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
| `map_names` | text, kind and length of each row of E | model key | 3 |
| `map_view` | axes and coordinates of all rows | model key, view | 6 |
| `map_facts` | spread and equal rows | model key | 12 |
| `map_payload` | the names as bytes for the browser | model key | 3 |
| `map_true_neighbours` | who is near 2,000 anchors at full width | model key, measure | 12 |
| `map_kept` | how many of them the picture keeps | model key, view, axes | 48 |
| `map_path` | h_0 … h_L at a position | model key, ids, position | 24 |
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
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from tiedviz.models.hub.known import Asked
from tiedviz.models.memory.residents import Residents
from tiedviz.models.progress import Report, Step
from tiedviz.ui.kept import Kept

if TYPE_CHECKING:
    from pathlib import Path

    from tiedviz.compute.counts.counts import Counts
    from tiedviz.compute.gradients import GradientSplit, Sentence
    from tiedviz.compute.lens import Lens
    from tiedviz.compute.next_token.reading import Reading
    from tiedviz.compute.token_map import Projection, View
    from tiedviz.compute.token_map.kept import Kept as KeptNeighbours
    from tiedviz.compute.token_map.kept import TrueNeighbours
    from tiedviz.compute.token_map.path import HiddenPath
    from tiedviz.compute.token_map.table import Facts, NamedRows
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
    from tiedviz.compute.next_token.reading import read

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


def map_names(loaded: LoadedModel) -> NamedRows:
    """The rows of E with their names."""
    return _map_names(loaded.key, loaded)


@st.cache_resource(max_entries=3, show_spinner="Naming every row of E …")
def _map_names(key: str, _loaded: LoadedModel) -> NamedRows:
    from tiedviz.compute.token_map.table import named_rows

    return named_rows(_loaded)


def map_view(loaded: LoadedModel, view: View) -> Projection:
    """All rows of E in one view.

    Raises:
        NothingToMap: fewer than two rows can be placed.
    """
    return _map_view(loaded.key, view.value, loaded)


@st.cache_resource(max_entries=6, show_spinner="Finding the axes of all rows …")
def _map_view(key: str, view: str, _loaded: LoadedModel) -> Projection:
    from tiedviz.compute.token_map import View
    from tiedviz.compute.token_map.table import projected

    return projected(_loaded, map_names(_loaded), View(view))


def map_facts(loaded: LoadedModel) -> Facts:
    """What holds for the rows whatever the view."""
    return _map_facts(loaded.key, loaded)


@st.cache_resource(max_entries=12, show_spinner=False)
def _map_facts(key: str, _loaded: LoadedModel) -> Facts:
    from tiedviz.compute.token_map.table import facts

    return facts(_loaded, map_names(_loaded))


def map_payload(loaded: LoadedModel) -> bytes:
    """The names as the browser takes them."""
    return _map_payload(loaded.key, loaded)


@st.cache_resource(max_entries=3, show_spinner=False)
def _map_payload(key: str, _loaded: LoadedModel) -> bytes:
    from tiedviz.ui.token_map.payload import names_payload

    return names_payload(key, map_names(_loaded))


def map_kept(loaded: LoadedModel, view: View, axes: tuple[int, int]) -> KeptNeighbours:
    """How many of the true neighbours the picture keeps."""
    return _map_kept(loaded.key, view.value, axes, loaded)


@st.cache_resource(max_entries=48, show_spinner=False)
def _map_kept(key: str, view: str, axes: tuple[int, int], _loaded: LoadedModel) -> KeptNeighbours:
    from tiedviz.compute.token_map import View
    from tiedviz.compute.token_map.kept import kept_in_picture

    projection = map_view(_loaded, View(view))
    true = _map_true_neighbours(key, projection.view is View.UNIT, _loaded)
    return kept_in_picture(projection.coordinates[:, axes], projection.fitted, true)


@st.cache_resource(max_entries=12, show_spinner=False)
def _map_true_neighbours(key: str, direction: bool, _loaded: LoadedModel) -> TrueNeighbours:
    from tiedviz.compute.token_map import View
    from tiedviz.compute.token_map.kept import true_neighbours

    rows = map_names(_loaded).rows
    fitted = map_view(_loaded, View.UNIT if direction else View.CENTRED).fitted
    return true_neighbours(_loaded.embedding, rows, fitted, direction=direction)


def map_path(loaded: LoadedModel, prompt: Prompt, position: int) -> HiddenPath:
    """The path of one position, computed once, with the same yield point as a reading."""
    with loaded.lock:
        st.empty()  # as above
        return _map_path(loaded.key, _ids_of(prompt), position, loaded)


@st.cache_resource(max_entries=24, show_spinner=False)
def _map_path(key: str, ids: _Ids, position: int, _loaded: LoadedModel) -> HiddenPath:
    from tiedviz.compute.token_map.path import hidden_path

    prompt, written = ids
    return hidden_path(_loaded, prompt, position, decoder_ids=written)
