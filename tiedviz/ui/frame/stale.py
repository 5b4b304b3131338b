"""Whether an open model is still what its files hold, and the way to open it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.files.access import identity
from tiedviz.ui.caches import model_pool

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel


def is_stale(loaded: LoadedModel) -> bool:
    """Whether the files changed, or went, since the model was opened."""
    return not loaded.folder.is_dir() or not loaded.key.startswith(identity(loaded.folder))


def offer_to_reopen(loaded: LoadedModel) -> None:
    """A warning and a button, where the open model is stale."""
    if is_stale(loaded):
        st.warning("Its files changed since it was opened.", icon=":material/update:")
        st.button("Open it again", on_click=_reopen, args=(loaded.source,))


def _reopen(source: str) -> None:
    model_pool().forget(source)
    model_pool().open(source)
