"""Small results that outlive the model they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.kept import Kept

if TYPE_CHECKING:
    from tiedviz.compute.counts.counts import Counts
    from tiedviz.compute.counts.sources import Config
    from tiedviz.words.catalogue import CatalogueRow


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


@st.cache_data(max_entries=64, ttl=60, show_spinner=False)
def named_config(name: str) -> Config | CatalogueRow:
    """What `config_of` finds behind a name: a configuration, or a row of the catalogue.

    Kept for a minute, so that a rerun does not ask the Hub again and a mended file is soon seen.

    Raises:
        Refusal: as `config_of`.
    """
    from tiedviz.compute.counts.sources import config_of

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
