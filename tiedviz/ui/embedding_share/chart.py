"""The chart tab: share against size, and what to see in it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.charts.embedding_share import PICK, share_chart
from tiedviz.compute.counts.table import how_share_falls, where_families_stop_tying
from tiedviz.ui.drawing import draw
from tiedviz.ui.embedding_share.chosen import chosen_point, ring_of
from tiedviz.words.catalogue import find_row
from tiedviz.words.numbers import count, percent
from tiedviz.words.tokens import markdown_safe

_LIT = ["Qwen2.5", "Pythia", "Gemma 3", "GPT-2"]
_LIT_KEY = "lit families"
_CHART_KEY = "share chart"


def share_against_size(shown: pd.DataFrame) -> None:
    """Draw the chart, the model that was clicked, and the reading help."""
    if shown.empty:
        st.info("No model passes these filters. Widen them, or press “Show all again”.")
        return
    lit = st.multiselect(
        "Families lit",
        sorted(set(shown["family"])),
        default=[family for family in _LIT if family in set(shown["family"])],
        max_selections=4,
        key=_LIT_KEY,
        persist_state="session",
        help="Up to four; each is a line from its smallest model to its largest.",
    )
    point = chosen_point()
    draw(
        st,
        share_chart(shown, lit, ring_of(point)),
        key=_CHART_KEY,
        on_select="rerun",
        alt="Share of the embedding tables against the number of parameters, one mark a model",
    )
    _picked(shown)
    st.markdown(_reading(shown, lit))
    if point is not None:
        st.caption(
            f"Ringed: {markdown_safe(point.title)}, {count(point.parameters)} parameters, "
            f"{percent(point.share)} ({markdown_safe(point.origin)})."
        )
    else:
        st.caption("No ring: nothing is known yet of the model chosen in the sidebar.")


def _reading(shown: pd.DataFrame, lit: list[str]) -> str:
    """How the share falls with size, and where families stop tying: the lit ones first."""
    stops = where_families_stop_tying(shown)
    ordered = sorted(stops, key=lambda stop: stop.family not in lit)
    sentences = [how_share_falls(shown), *(stop.sentence for stop in ordered[:2])]
    return " ".join(sentence for sentence in sentences if sentence)


def _picked(shown: pd.DataFrame) -> None:
    """The model whose dot was clicked, to the last digit."""
    state = st.session_state.get(_CHART_KEY) or {}
    chosen = (state.get("selection") or {}).get(PICK) or []
    wanted = chosen[0].get("repo_id") if chosen else None
    row = find_row(str(wanted)) if wanted in set(shown["repo_id"]) else None
    if row is None:
        st.caption("Click a mark to read its numbers.")
        return
    table = f"{count(row.V)} × {count(row.d)} = {count(row.V * row.d)}"
    other = f"untied it would hold {count(row.total + row.V * row.d)}"
    if not row.tied:
        other = f"tied it would hold {count(row.total - row.parts.head)}"
    st.markdown(
        f"**{markdown_safe(row.repo_id)}**, {'tied' if row.tied else 'untied'}: "
        f"{count(row.total)} parameters, {percent(row.parts.share, 2)} of them in "
        f"{'E' if row.tied else 'E and W'}; E holds {table}; {other}."
    )
    st.caption(
        markdown_safe(" ".join(filter(None, (row.note, row.published_why)))) or row.tied_from
    )
