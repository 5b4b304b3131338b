"""Every cache of the app, with what it is keyed by and what bounds it.

| cache | holds | keyed by | bound |
|---|---|---|---|
| `residents` | open models | source | bytes, least recently used out (`TIEDVIZ_MODEL_MEMORY`) |
| `asked` | what the Hub said of a repository | id, revision | 200 |
| `LoadedModel.memo` | what was measured once on a model | lives and dies with the model | – |
| `heard_files` | what a model's files declare and store | path, sizes, times | 64 |
| `reading` | one state and its logits | model key, ids, position, layer | 64 |
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

if TYPE_CHECKING:
    from tiedviz.compute.counts.counts import Counts
    from tiedviz.compute.reading import Reading
    from tiedviz.files.verdict.witnesses import Declared, Stored
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt

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


def _load(source: str, **options: Any) -> LoadedModel:
    from tiedviz.models.load import load  # here, so that the first page needs no torch

    return load(source, **options)


def reading(loaded: LoadedModel, prompt: Prompt, position: int, layer: int = -1) -> Reading:
    """The reading of one position, computed once. A run nobody waits for any more stops here."""
    with loaded.lock:
        st.empty()  # where a superseded run ends and lets the lock go
        written = prompt.decoder_ids
        ids = (tuple(prompt.ids), None if written is None else tuple(written))
        return _reading(loaded.key, ids, position, layer, loaded)


@st.cache_resource(max_entries=64, show_spinner=False)
def _reading(key: str, ids: _Ids, position: int, layer: int, _loaded: LoadedModel) -> Reading:
    from tiedviz.compute.reading import read

    prompt, written = ids
    return read(_loaded, prompt, position=position, layer=layer, decoder_ids=written)


@st.cache_data(max_entries=64, show_spinner=False)
def counts(config: str, title: str) -> Counts:
    """The counts of a raw config.json, given as text.

    Raises:
        CountRefusal, CheckpointRefusal: it cannot be built.
    """
    import json

    from tiedviz.compute.counts.count import count_config

    return count_config(json.loads(config), title)
