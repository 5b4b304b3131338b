"""The tab Verdict: what it costs or saves, what to run, and how alike two matrices are."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import model_pool
from tiedviz.ui.frame.opened_model import open_button
from tiedviz.ui.is_it_tied.alike import alike
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.verdict.repair import repair_for
from tiedviz.verdict.verdict import Costs
from tiedviz.words.numbers import count, exact_size, percent
from tiedviz.words.tokens import markdown_safe

_WITHOUT_COSTS = ("no_head", "cannot_tell")


def verdict_tab(heard: Heard | None) -> None:
    """What follows from the verdict."""
    if heard is None:
        st.caption("Nothing is heard yet.")
        return
    verdict = heard.hearing.verdict
    _costs(verdict.costs, decided=verdict.word not in _WITHOUT_COSTS)
    _repair(heard)
    loaded = model_pool().get(heard.source.text)
    if verdict.word not in ("untied", "contradiction", "near_twin"):
        return
    if loaded is None:
        st.markdown("**How alike E and W are**, row by row, is known once the model is open.")
        open_button(heard.source, key="open to compare E and W")
    elif not loaded.tied:
        alike(loaded)


def _costs(costs: Costs, *, decided: bool) -> None:
    """The bill: each part, what sharing saves or would save, and what a second copy wastes."""
    rows = [
        _row("the whole model", costs.total, costs.total),
        _row("E", costs.embedding, costs.total),
    ]
    if costs.head:
        rows.append(_row("W, a matrix of its own", costs.head, costs.total))
    if decided and 0 < costs.head == costs.embedding:
        rows.append(_row("one table for both would save", costs.head, costs.total))
    if decided and costs.saved_by_tying:
        rows.append(_row("a W of its own would add", costs.saved_by_tying, costs.total))
    st.markdown("**What it costs**")
    right = {name: st.column_config.TextColumn(alignment="right") for name in list(rows[0])[1:]}
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_config=right,
        alt="Parameters and bytes of each part",
    )
    words = f"Parameters {costs.origin}."
    if costs.wasted_bytes:
        words += f" A second copy takes {exact_size(costs.wasted_bytes)} of the file for nothing."
    if decided:
        work = count(2 * (costs.head or costs.embedding))
        words += f" Tied or not, scoring one position takes {work} operations (2·V·d)."
    st.caption(words)


def _row(part: str, numbers: int, total: int) -> dict[str, str]:
    return {
        "part": part,
        "parameters": count(numbers),
        "share": percent(numbers / total) if total else "–",
        "float32": exact_size(4 * numbers),
        "bfloat16": exact_size(2 * numbers),
    }


def _repair(heard: Heard) -> None:
    """Lines to run, or the sentence that says why no lines would do."""
    hearing = heard.hearing
    repair = repair_for(hearing.verdict.word, hearing.declared, hearing.stored)
    if not repair:
        return
    st.markdown("**Repair**, to run yourself on a copy; this page never runs it")
    if isinstance(repair, str):
        st.caption(markdown_safe(repair))
        return
    after = repair.gives.replace("_", " ")
    st.caption(f"{markdown_safe(repair.what)} The files are *{after}* afterwards.")
    st.code(repair.code, language="python", wrap_lines=True)
