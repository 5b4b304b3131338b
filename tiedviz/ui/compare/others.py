"""The box that says with which models the sidebar's is compared, and its part of the link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from tiedviz.charts.compare import LETTERS
from tiedviz.models.sources import find_source
from tiedviz.ui.frame.model_choice import HUB_EXAMPLES
from tiedviz.words.refusals import Refusal
from tiedviz.words.shelf import SHELF

WITH_KEY = "with"
_WRITTEN_KEY = "with, as in the link"


def chosen_others(partner: str) -> list[str]:
    """Draw the box. Returns what is chosen, as it would be typed.

    The box shows titles and the link holds names, so the link is read and written here: a box
    bound to the link would write its titles there.

    Args:
        partner: who is chosen where nobody chooses.
    """
    linked = st.query_params.get_all(WITH_KEY)
    if linked and linked != st.session_state.get(_WRITTEN_KEY):  # a link that is followed
        st.session_state[WITH_KEY] = _by_name(linked)
    elif WITH_KEY not in st.session_state:
        st.session_state[WITH_KEY] = [partner]
    chosen = st.session_state[WITH_KEY]
    options = list(dict.fromkeys([*SHELF, *HUB_EXAMPLES, *chosen]))
    labels = _labels(options)
    others = st.multiselect(
        "Compare the model in the sidebar with",
        options,
        format_func=lambda name: labels.get(name, name),
        key=WITH_KEY,
        persist_state="session",
        accept_new_options=True,
        max_selections=len(LETTERS) - 1,
        placeholder="one to three models: a shelf name, a Hub id, a path",
        help="Model A is the sidebar's. The same model may stand on both sides, for example at two "
        "revisions (OWNER/NAME@REVISION). Press Enter after each.",
    )
    _write_link(others, partner)
    return list(others)


def _by_name(linked: Sequence[str]) -> list[str]:
    """What a link names; links of earlier versions hold titles. No more than fit."""
    names = {model.title: name for name, model in SHELF.items()}
    return list(dict.fromkeys(names.get(each, each) for each in linked))[: len(LETTERS) - 1]


def _labels(options: Sequence[str]) -> dict[str, str]:
    """What each is called; the name beside the title where two have the same."""
    titles = {name: _title(name) for name in options}
    times = Counter(titles.values())
    return {
        name: title if times[title] == 1 else f"{title} ({name})" for name, title in titles.items()
    }


def _title(name: str) -> str:
    try:
        return find_source(name).title
    except Refusal:
        return name  # its column says what is wrong


def _write_link(others: Sequence[str], partner: str) -> None:
    """Keep the link in step; the choice that everybody begins with needs no place in it."""
    wanted = [] if list(others) == [partner] else list(others)
    if st.query_params.get_all(WITH_KEY) != wanted:
        if wanted:
            st.query_params[WITH_KEY] = wanted
        else:
            st.query_params.pop(WITH_KEY, None)
    st.session_state[_WRITTEN_KEY] = wanted
