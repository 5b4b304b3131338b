"""Four numbers on what the picture shows and what it loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.caches import map_recall, map_statistics
from tiedviz.ui.token_map.drawn import Drawn
from tiedviz.words.numbers import count, percent, plural
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    import numpy as np
    from streamlit.delta_generator import DeltaGenerator

    from tiedviz.compute.token_map.recall import NeighbourRecall
    from tiedviz.models.loaded import LoadedModel

_NAMED = 12  # rows named in one sentence


def strip(loaded: LoadedModel, drawn: Drawn) -> DeltaGenerator:
    """Draw three of them. Returns the place of the fourth, which takes seconds the first time."""
    found = map_statistics(loaded)
    points, variance, zero, kept = st.columns(4)
    shown = int(drawn.visible.sum())
    with points:
        st.metric("Points drawn", count(shown))
        left = len(drawn.visible) - shown
        st.caption("Every row of E, none sampled." if not left else f"{count(left)} left out.")
    with variance:
        parts = drawn.projection.spectrum[list(drawn.choice.axes)]
        st.metric("Variance shown", percent(float(parts.sum())))
        st.caption(f"On these two axes, of {count(len(drawn.projection.spectrum))} components.")
    with zero:
        st.metric("Zero line", f"{found.cosine:.3f}")
        st.caption(
            f"Mean cosine of two rows: “alike” begins above it. {found.centred_cosine:.3f} once "
            "the mean row is taken off."
        )
    return kept


def fill_kept(place: DeltaGenerator, loaded: LoadedModel, drawn: Drawn) -> None:
    """The fourth number; called last, so that the page stands before it is computed."""
    with place:
        with st.spinner("Comparing neighbourhoods", show_time=True):
            kept = map_recall(loaded, drawn.choice.view, drawn.choice.axes)
        st.metric("Neighbours kept", percent(kept.share))
        st.caption(_kept_words(kept))


def _kept_words(kept: NeighbourRecall) -> str:
    among = f"of the {kept.nearest} nearest rows at full width are among the {kept.nearest} here"
    low, high = (percent(end).replace(" ", "\u00a0") for end in (kept.low, kept.high))
    if kept.low == kept.high:
        return f"{among}; all rows asked."
    return f"{among}: {low} to {high} with 95 % confidence, {count(kept.anchors)} rows asked."


def left_out(loaded: LoadedModel, drawn: Drawn) -> None:
    """What is not drawn, what lies outside the view, and what lies on one spot: each by name."""
    lines = []
    rows = drawn.named.rows
    for mask, why in (
        (~rows.finite, "not finite, left out"),
        (rows.zero, "of length 0" + (", no direction" if drawn.choice.view == "unit" else "")),
        (~rows.with_token & rows.finite, "without a token"),
    ):
        ids = mask.nonzero()[0]
        if len(ids):
            lines.append(f"{plural(len(ids), 'row')} {why}: {_names(drawn, ids)}")
    outside = drawn.box.outside
    if len(outside):
        verb = "lies" if len(outside) == 1 else "lie"
        lines.append(
            f"{plural(len(outside), 'outlier')} {verb} outside the first view, the farthest by "
            f"{drawn.box.excess[0]:.1f} times its side: {_names(drawn, outside)}"
        )
    equal = map_statistics(loaded).duplicates
    if equal:
        together = sum(len(group) for group in equal)
        lines.append(
            f"{plural(len(equal), 'group')} of equal rows, {count(together)} rows in all, the "
            f"largest {count(len(equal[0]))}: {_names(drawn, equal[0])}"
        )
    for line in lines:
        st.caption(f":material/info: {line}.")


def _names(drawn: Drawn, ids: np.ndarray) -> str:
    shown = [f"{drawn.named.tokens['text'][id]} #{id}" for id in ids[:_NAMED]]
    rest = len(ids) - len(shown)
    return markdown_safe(", ".join(shown)) + (f" and {count(rest)} more" if rest else "")
