"""The geometry of the tables, over the tokens that all models share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import lru
from tiedviz.ui.compare.answers import shared_by
from tiedviz.ui.compare.model_queue import (
    ask_for,
    asked_for,
    failure,
    go_on_opening,
    open_button,
    open_model,
)
from tiedviz.ui.compare.models import ComparedModel
from tiedviz.words.numbers import count, percent

if TYPE_CHECKING:
    from tiedviz.compute.compare.geometry import Geometry

_WHY = "geometry"


def shape(models: Sequence[ComparedModel]) -> dict[str, Any]:
    """The expander. Returns its numbers as plain values, where they are known."""
    answered = [model for model in models if model.answer is not None]
    coming = [model for model in models if model.waits and failure(model) is None]
    if not answered or any(model.source is not None for model in coming):
        return {}
    with st.expander("Geometry of E", icon=":material/scatter_plot:", key="geometry"):
        shared = shared_by(answered)
        if len(shared.texts) < 12:
            st.caption(f"They share {len(shared.texts)} tokens: too few to have neighbours.")
            return {}
        st.caption(
            f"Over the {count(len(shared.texts))} texts that "
            f"{'all of them have' if len(answered) > 1 else 'it has'} a token for; of rows that "
            "decode alike the first. Widths need not agree: each table is measured by itself."
        )
        found = {model.letter: _known(model, answered) for model in answered}
        missing = [model for model in answered if found[model.letter] is None]
        if missing and not _measure(missing, answered):
            return {}
        known = {letter: each for letter, each in found.items() if each is not None}
        return _show(answered, known)


def _name(model: ComparedModel, answered: Sequence[ComparedModel]) -> tuple[object, ...]:
    return model.key, tuple(each.key for each in answered), answered.index(model)


def _known(model: ComparedModel, answered: Sequence[ComparedModel]) -> Geometry | None:
    found: Geometry | None = lru("geometry").get(_name(model, answered))
    return found


def _measure(missing: Sequence[ComparedModel], answered: Sequence[ComparedModel]) -> bool:
    """Measure what can be measured now. Returns whether the page should be read on; it never is.

    Models that are open come first: opening another may let them go.
    """
    if not asked_for(_WHY):
        closed = [model for model in missing if open_model(model) is None]
        if closed:
            open_button(closed, "Measure (opens what was let go)", _WHY, "measure geometry")
        else:
            st.button(
                "Measure", icon=":material/straighten:", on_click=ask_for, args=(missing, _WHY)
            )
            st.caption("A few seconds for each model: 2,000 rows against all shared ones.")
        return False
    ready = [model for model in missing if open_model(model) is not None]
    for model in ready:
        _measure_one(model, answered)
    still = [model for model in missing if model not in ready]
    if not go_on_opening(_WHY, still):
        st.rerun()
    return False


def _measure_one(model: ComparedModel, answered: Sequence[ComparedModel]) -> None:
    from tiedviz.compute.compare.geometry import geometry

    loaded = open_model(model)
    if loaded is None:
        return
    with st.spinner(f"Measuring {model.letter}", show_time=True):
        yields = st.empty()
        rows = shared_by(answered).rows(answered.index(model))
        found = geometry(loaded.embedding, rows, pause=yields.empty)
    lru("geometry").keep(_name(model, answered), found)


def _show(answered: Sequence[ComparedModel], known: dict[str, Geometry]) -> dict[str, Any]:
    from tiedviz.compute.compare.geometry import geometry_record, neighbours_shared, overlap_record

    st.dataframe(
        pd.DataFrame(
            [
                {
                    "model": f"{model.letter} · {model.title}",
                    "‖e‖, mean": known[model.letter].norm,
                    "± spread": known[model.letter].norm_spread,
                    "mean cosine of random pairs": known[model.letter].cosine,
                    "± margin": known[model.letter].cosine_margin,
                    "after centring": known[model.letter].cosine_centred,
                }
                for model in answered
            ]
        ),
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="%.3f")
            for name in ("‖e‖, mean", "± spread", "mean cosine of random pairs", "after centring")
        }
        | {"± margin": st.column_config.NumberColumn(format="%.4f")},
        alt="Row lengths and mean cosines of each table",
    )
    st.caption(
        "The mean cosine of random pairs is the zero line of this table: a cosine is high only "
        "above it. After the mean row is subtracted it lies near 0. Margins are 95 % intervals."
    )
    overlaps = []
    for one, other in combinations(answered, 2):
        found = neighbours_shared(known[one.letter], known[other.letter])
        st.markdown(
            f"**{one.letter} and {other.letter}** share "
            f"**{percent(found.share)}** ± {percent(found.margin)} of the {found.neighbours} "
            f"nearest neighbours by cosine ({count(found.anchors)} texts, fixed draw; chance "
            f"would be {percent(found.by_chance, 2)})."
        )
        overlaps.append(overlap_record(found, (one.named, other.named)))
    tables = {letter: geometry_record(each) for letter, each in known.items()}
    return {"geometry": {"tables": tables, "overlaps": overlaps}}
