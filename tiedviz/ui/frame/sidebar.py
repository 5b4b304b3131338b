"""The sidebar that every page shares: the model, its facts, whether it is open, and memory."""

from __future__ import annotations

from html import escape

import streamlit as st

from tiedviz.models.known import KnownFacts
from tiedviz.models.memory import available_memory
from tiedviz.models.sources import Source
from tiedviz.ui.caches import model_pool
from tiedviz.ui.frame.choice import chosen_facts, chosen_source, hub_is_thinking, model_box
from tiedviz.ui.frame.glossary import glossary
from tiedviz.ui.frame.opening import is_opening, open_button, progress, show_failure
from tiedviz.ui.frame.refusals import refusals_shown
from tiedviz.ui.frame.stale import offer_to_reopen
from tiedviz.ui.frame.verdict_badge import verdict_badge
from tiedviz.words.numbers import count, megabytes, percent, short_count


def sidebar(*, polls: bool) -> None:
    """Draw it. Its words for a model that cannot be read stand where its facts would.

    Args:
        polls: whether it follows an opening by itself; false where the page does.
    """
    with st.sidebar:
        model_box()
        with refusals_shown():
            source = chosen_source()
            if hub_is_thinking(source):
                _wait_for_the_hub(source)
            elif (facts := chosen_facts(source)) is not None:
                _facts(facts)
            verdict_badge(source)
            _readiness(source, polls)
        _memory()
        glossary()


@st.fragment(run_every=0.4)
def _wait_for_the_hub(source: Source) -> None:
    """A line that stands until the Hub has answered; then the whole page is drawn again."""
    if not hub_is_thinking(source):
        st.rerun()
    st.caption("Asking the Hub what this model is …")


def _facts(facts: KnownFacts) -> None:
    tables = "E" if facts.stores_one_table else "E and W"
    rows = {
        "V, rows of E": _count(facts.V),
        "d, width of E": _count(facts.d),
        "L, blocks": _count(facts.layers),
        f"parameters ({short_count(facts.parameters)})": count(facts.parameters),
        f"{tables} in all parameters": "–" if facts.share is None else percent(facts.share, 2),
    }
    cells = "".join(
        f"<span>{escape(name)}</span><span style='text-align:right'>{escape(value)}</span>"
        for name, value in rows.items()
    )
    st.html(
        "<div style='display:grid;grid-template-columns:1fr auto;gap:.2rem .8rem;"
        f"font-size:.9rem'>{cells}</div>"
    )
    st.caption(facts.origin[0].upper() + facts.origin[1:] + ".")


def _count(number: int | None) -> str:
    return "–" if number is None else count(number)


def _readiness(source: Source, polls: bool) -> None:
    loaded = model_pool().get(source.text)
    if loaded is None:
        _not_open(source, polls)
        return
    offer_to_reopen(loaded)
    with st.container(horizontal=True):
        if loaded.placement:
            st.badge(loaded.placement, icon=":material/hard_drive:", color="orange")
        st.badge(f"live, {loaded.dtype}", icon=":material/check_circle:", color="green")
        word = "one matrix in memory" if loaded.tied else "two matrices in memory"
        st.badge(
            word, icon=":material/link:" if loaded.tied else ":material/link_off:", color="blue"
        )


def _not_open(source: Source, polls: bool) -> None:
    if is_opening(source):
        if polls:
            progress(source, "sidebar")
        else:
            st.badge("opening …", icon=":material/hourglass_top:", color="orange")
        return
    st.badge("not open", icon=":material/radio_button_unchecked:", color="gray")
    show_failure(source)
    open_button(source, key="open from the sidebar")


def _memory() -> None:
    open_models = model_pool()
    st.caption(
        f"Open models: {megabytes(open_models.nbytes)} of {megabytes(open_models.budget)} · "
        f"free memory: {megabytes(available_memory())}"
    )
