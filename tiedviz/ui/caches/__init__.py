"""Every cache of the app, with what it is keyed by and what bounds it.

| cache | holds | keyed by | bound |
|---|---|---|---|
| `model_pool` | open models | source | bytes, least recently used out (`TIEDVIZ_MODEL_MEMORY`) |
| `hub_answers` | what the Hub said of a repository | id, revision | 200 |
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
| `charts.filled` | specifications of charts, no rows | kind, colour, number of rows | 32, 128 |
| `named_config` | a configuration, or its row in the catalogue | name as typed | 64, one minute |
| `counts` | the parameters of a configuration, counted | its JSON text, title | 64 |

Models and tensors are never hashed (Streamlit samples big arrays when it does); they are passed
with a leading underscore beside the key that names them. Nothing cached is ever changed:
it is shared.
"""

from tiedviz.ui.caches.opened import hub_answers, model_pool
from tiedviz.ui.caches.results import (
    counts,
    kept_answers,
    kept_continuations,
    kept_geometry,
    kept_identities,
    kept_shared,
    kept_texts,
    named_config,
)
from tiedviz.ui.caches.states import gradients_done, lens, reading, run_gradients
from tiedviz.ui.caches.token_map import (
    map_facts,
    map_kept,
    map_names,
    map_path,
    map_payload,
    map_view,
)
from tiedviz.ui.caches.verdicts import (
    COMPARED_AT_ONCE,
    files_verdict,
    header_verdict,
    heard_files,
    remember_heard,
)

__all__ = [
    "COMPARED_AT_ONCE",
    "counts",
    "files_verdict",
    "gradients_done",
    "header_verdict",
    "heard_files",
    "hub_answers",
    "kept_answers",
    "kept_continuations",
    "kept_geometry",
    "kept_identities",
    "kept_shared",
    "kept_texts",
    "lens",
    "map_facts",
    "map_kept",
    "map_names",
    "map_path",
    "map_payload",
    "map_view",
    "model_pool",
    "named_config",
    "reading",
    "remember_heard",
    "run_gradients",
]
