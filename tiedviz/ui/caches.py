"""Every cache of the app, with what it is keyed by and what bounds it.

| cache | holds | keyed by | bound |
|---|---|---|---|
| `model_pool` | open models | source | bytes, least recently used out (`TIEDVIZ_MODEL_MEMORY`) |
| `hub_answers` | what the Hub said of a repository | id, revision | 200 |
| `LoadedModel.memo` | what was measured once on a model | lives and dies with the model | – |
| `files_verdict` | a verdict from files alone | name as typed | 64, one minute |
| `header_verdict` | a verdict from headers, no copies compared | path, sizes, times | 64 |
| `scored_state` | one state and its logits | model, ids, position, layer | 64 |
| `lens` | what every layer would say | model, ids, positions, watched ids | 24 |
| `map_names` | text, kind and length of each row of E | model | 3 |
| `map_view` | axes and coordinates of all rows | model, view | 6 |
| `map_statistics` | lengths, mean cosines and duplicate rows | model | 12 |
| `map_payload` | the names as bytes for the browser | model | 3 |
| `map_true_neighbours` | who is near 2,000 anchors at full width | model, measure | 12 |
| `map_recall` | neighbour recall: how many of them the picture keeps | model, view, axes | 48 |
| `map_path` | h_0 … h_L at a position | model, ids, position | 24 |
| `lru("heard files")` | what a model's files declare and store | path, sizes, times | 64 |
| `lru("gradients")` | splits of dL/dE, without the dense gradients | model, sentence | 24 |
| `lru("answers")` | a model's answer to a prompt, or why there is none | model, prompt | 48 |
| `lru("identities")` | the folder and key a source last stood for | source | 200 |
| `lru("texts")` | what the rows of a vocabulary stand for | model | 12 |
| `lru("shared")` | tokens that vocabularies share, agreements over them | models | 64 |
| `lru("geometry")` | one table over shared tokens | models, which tokens | 32 |
| `lru("continuations")` | what a model wrote after a prompt, so far | model, ids, way | 200 |
| `charts.template` | specifications of charts, no rows | kind, colour, number of rows | 32, 128 |
| `named_config` | a configuration, or its row in the catalogue | name as typed | 64, one minute |
| `counts` | the parameters of a configuration, counted | its JSON text, title | 64 |

A model is hashed by its key and a prompt by its ids, never by their content (Streamlit samples big
arrays). Nothing cached is ever changed: it is shared.
"""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from tiedviz.models.hub import HubAnswers
from tiedviz.models.pool import ModelPool, forget_frames
from tiedviz.models.progress import Report, Stage
from tiedviz.verdict.audit import hear_header

if TYPE_CHECKING:
    from pathlib import Path

    from tiedviz.compute.counts import Counts
    from tiedviz.compute.counts.configs import Config
    from tiedviz.compute.gradient_task import Sentence
    from tiedviz.compute.gradients import GradientSplit
    from tiedviz.compute.lens import Lens
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.compute.token_map import MapView, Projection
    from tiedviz.compute.token_map.path import HiddenPath
    from tiedviz.compute.token_map.recall import NeighbourRecall, TrueNeighbours
    from tiedviz.compute.token_map.rows import NamedRows, RowStatistics
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt
    from tiedviz.verdict.audit import Audit
    from tiedviz.verdict.witnesses import Declared, Stored
    from tiedviz.words.catalogue import CatalogueRow

# Two stored copies up to this size are compared at once; more takes a button and a progress bar.
COMPARED_AT_ONCE = 100_000_000

Ids = tuple[tuple[int, ...], tuple[int, ...] | None]
"""Of the prompt, and of what a decoder has written."""

Cached = TypeVar("Cached", bound=Callable[..., Any])


def ids_of(prompt: Prompt) -> Ids:
    """What stands for a prompt in a key."""
    written = prompt.decoder_ids
    return tuple(prompt.ids), None if written is None else tuple(written)


# By name, so that the first paint of a page imports neither class: both bring torch.
_KEYS: dict[str | type, Callable[[Any], Any]] = {
    "tiedviz.models.loaded.LoadedModel": lambda loaded: loaded.key,
    "tiedviz.models.prompt.Prompt": ids_of,
}


def _under_its_lock(cached: Cached) -> Cached:
    """`cached` under the lock of the model it is given first, with a point where runs may end."""
    signature = inspect.signature(cached)

    @wraps(cached)
    def locked(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options)
        given.apply_defaults()  # Streamlit takes a default left out for another key
        with given.args[0].lock:
            st.empty()  # where a superseded run ends and lets the lock go
            return cached(*given.args, **given.kwargs)

    return locked  # type: ignore[return-value]


class LruCache:
    """Values by key, the longest unused first to go: results that outlive their model.

    Shared by all visitors; nothing is changed. A refusal may be kept as well. It is kept without
    the frames it came through: their variables would keep the model in memory.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """The value, or None."""
        with self._guard:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: Hashable, value: Any) -> Any:
        """Keep a value. Returns it."""
        if isinstance(value, BaseException):
            forget_frames(value)
        with self._guard:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value


_BOUNDS = {
    "answers": 48,
    "continuations": 200,
    "geometry": 32,
    "gradients": 24,
    "heard files": 64,
    "identities": 200,
    "shared": 64,
    "texts": 12,
}


@st.cache_resource(show_spinner=False)
def lru(of: str) -> LruCache:
    """The one cache of these results, by its name in the table above."""
    return LruCache(_BOUNDS[of])


@st.cache_resource(show_spinner=False)
def model_pool() -> ModelPool:
    """The open models of this process, shared by all visitors."""
    return ModelPool(_load)


def _load(source: str, *, report: Report, make_room: Callable[[int], None]) -> LoadedModel:
    """Open a model and measure its unembedding, so that no page waits for that without a word."""
    from tiedviz.compute.unembedding import unembedding_of  # here: the first page needs no torch
    from tiedviz.models.loading import load

    loaded = load(source, report=report, make_room=make_room)
    report(Stage("Measuring what turns its states into scores"))
    unembedding_of(loaded)
    return loaded


@st.cache_resource(show_spinner=False)
def hub_answers() -> HubAnswers:
    """What the Hub said about repositories, asked for in the background."""
    return HubAnswers(hear_header)


def heard_files(key: str) -> tuple[Declared, Stored] | None:
    """What was heard of the files with this identity, or None."""
    found: tuple[Declared, Stored] | None = lru("heard files").get(key)
    return found


def remember_heard(key: str, found: tuple[Declared, Stored]) -> None:
    """Keep what was heard."""
    lru("heard files").keep(key, found)


@st.cache_data(max_entries=64, ttl=60, show_spinner=False)
def files_verdict(name: str) -> Audit:
    """What the files of any model say, by its name; two copies are compared up to 100 MB.

    Kept for a minute, so that a rerun reads nothing again and a repaired file is soon seen.

    Raises:
        Refusal: they cannot be read.
    """
    from tiedviz.models.progress import silent
    from tiedviz.verdict.audit import audit

    return audit(name, load=False, report=silent, most=COMPARED_AT_ONCE)


@st.cache_data(max_entries=64, show_spinner=False)
def header_verdict(key: str, _files: Path) -> Audit:
    """What the headers of these files say alone; reading them takes milliseconds.

    Args:
        key: identity of the files.

    Raises:
        FileRefusal: they cannot be read.
    """
    from tiedviz.verdict.audit import Audit, hear_files

    return Audit(*hear_files(_files, most=0))


@_under_its_lock
@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_KEYS)
def scored_state(
    loaded: LoadedModel, prompt: Prompt, position: int, layer: int = -1
) -> ScoredState:
    """The state at one position and what it says, computed once."""
    from tiedviz.compute.next_token.state import score_state

    ids, written = ids_of(prompt)
    return score_state(loaded, ids, position=position, layer=layer, decoder_ids=written)


@_under_its_lock
@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=_KEYS)
def lens(
    loaded: LoadedModel, prompt: Prompt, positions: tuple[int, ...], watched: tuple[int, ...]
) -> Lens:
    """The lens at some positions, computed once."""
    from tiedviz.compute.lens import lens

    ids, written = ids_of(prompt)
    return lens(loaded, ids, decoder_ids=written, positions=positions, watched=watched)


def _sentence_key(loaded: LoadedModel, sentence: Sentence) -> Hashable:
    return loaded.key, sentence.ids, sentence.decoder_ids, sentence.targets


def gradients_done(loaded: LoadedModel, sentence: Sentence) -> GradientSplit | None:
    """The split of this sentence, if somebody had it computed."""
    found: GradientSplit | None = lru("gradients").get(_sentence_key(loaded, sentence))
    return found


def run_gradients(loaded: LoadedModel, sentence: Sentence, report: Report) -> GradientSplit:
    """Compute it and keep it. A superseded run stops inside.

    Raises:
        Refusal: as `compute.gradients.gradient_split`.
    """
    from tiedviz.compute.gradients import gradient_split

    found = gradient_split(loaded, sentence, report=report, pause=st.empty)
    lru("gradients").keep(_sentence_key(loaded, sentence), found)
    return found


@st.cache_resource(max_entries=3, show_spinner="Naming every row of E …", hash_funcs=_KEYS)
def map_names(loaded: LoadedModel) -> NamedRows:
    """The rows of E with their names."""
    from tiedviz.compute.token_map.rows import named_rows

    return named_rows(loaded)


@st.cache_resource(max_entries=6, show_spinner="Finding the axes of all rows …", hash_funcs=_KEYS)
def map_view(loaded: LoadedModel, view: MapView) -> Projection:
    """All rows of E in one view.

    Raises:
        VectorRefusal: fewer than two rows can be placed.
    """
    from tiedviz.compute.token_map.projection import projected

    return projected(loaded, map_names(loaded), view)


@st.cache_resource(max_entries=12, show_spinner=False, hash_funcs=_KEYS)
def map_statistics(loaded: LoadedModel) -> RowStatistics:
    """What holds for the rows whatever the view."""
    from tiedviz.compute.token_map.rows import row_statistics

    return row_statistics(loaded.embedding, map_names(loaded).rows)


@st.cache_resource(max_entries=3, show_spinner=False, hash_funcs=_KEYS)
def map_payload(loaded: LoadedModel) -> bytes:
    """The names as the browser takes them."""
    from tiedviz.ui.token_map.picture import names_payload

    return names_payload(loaded.key, map_names(loaded))


@st.cache_resource(max_entries=48, show_spinner=False, hash_funcs=_KEYS)
def map_recall(loaded: LoadedModel, view: MapView, axes: tuple[int, int]) -> NeighbourRecall:
    """How many of the true neighbours the picture keeps."""
    from tiedviz.compute.token_map import MapView
    from tiedviz.compute.token_map.recall import neighbour_recall

    projection = map_view(loaded, view)
    true = map_true_neighbours(loaded, projection.view is MapView.UNIT)
    return neighbour_recall(projection.coordinates[:, axes], projection.fitted, true)


@st.cache_resource(max_entries=12, show_spinner=False, hash_funcs=_KEYS)
def map_true_neighbours(loaded: LoadedModel, direction: bool) -> TrueNeighbours:
    """Who is near the anchors at full width; by direction, or by distance from the mean."""
    from tiedviz.compute.token_map import MapView
    from tiedviz.compute.token_map.recall import true_neighbours

    rows = map_names(loaded).rows
    fitted = map_view(loaded, MapView.UNIT if direction else MapView.CENTRED).fitted
    return true_neighbours(loaded.embedding, rows, fitted, direction=direction)


@_under_its_lock
@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=_KEYS)
def map_path(loaded: LoadedModel, prompt: Prompt, position: int) -> HiddenPath:
    """The path of one position, computed once."""
    from tiedviz.compute.token_map.path import hidden_path

    ids, written = ids_of(prompt)
    return hidden_path(loaded, ids, position, decoder_ids=written)


@st.cache_data(max_entries=64, ttl=60, show_spinner=False)
def named_config(name: str) -> Config | CatalogueRow:
    """What `config_of` finds behind a name: a configuration, or a row of the catalogue.

    Kept for a minute, so that a rerun does not ask the Hub again and a mended file is soon seen.

    Raises:
        Refusal: as `config_of`.
    """
    from tiedviz.compute.counts.configs import config_of

    return config_of(name)


@st.cache_data(max_entries=64, show_spinner=False)
def counts(config: str, title: str) -> Counts:
    """The counts of a raw config.json, given as text.

    Raises:
        CountRefusal, CheckpointRefusal: it cannot be built.
    """
    import json

    from tiedviz.compute.counts.count import count_config

    return count_config(json.loads(config), title)
