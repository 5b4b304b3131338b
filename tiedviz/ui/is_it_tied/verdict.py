"""The verdict: one word, how things are, what to do, what it costs, and what mends the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.ui.caches import model_pool
from tiedviz.ui.frame.model_choice import chosen_source
from tiedviz.ui.frame.opened_model import open_button
from tiedviz.ui.is_it_tied.evidence import prose
from tiedviz.verdict.repair import repair_for
from tiedviz.words.numbers import count, exact_size, percent, short_count
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.verdict.audit import Audit
    from tiedviz.verdict.decide import Costs, Verdict

_BOX = {"calm": st.success, "amber": st.warning, "red": st.error, "grey": st.info}
_ICONS = {
    "tied": ":material/link:",
    "twin": ":material/content_copy:",
    "near_twin": ":material/content_copy:",
    "untied": ":material/link_off:",
    "contradiction": ":material/error:",
    "broken": ":material/broken_image:",
    "partly_tied": ":material/rule:",
    "no_head": ":material/do_not_disturb_on:",
    "adapter": ":material/layers:",
    "cannot_tell": ":material/help:",
}
_WITHOUT_COSTS = ("no_head", "cannot_tell")


def banner(verdict: Verdict) -> None:
    """The word in its tone, the state, the advice, and how it usually came about."""
    word = verdict.word.replace("_", " ").capitalize()
    lines = [f"**{word}.** {markdown_safe(verdict.state)}", prose(verdict.advice)]
    if verdict.causes:
        lines.append("Usual causes: " + markdown_safe("; ".join(verdict.causes)))
    _BOX[verdict.tone]("\n\n".join(lines), icon=_ICONS[verdict.word])


def notes(audit: Audit) -> None:
    """What is odd about the rows of E: freshly added ones, ones without a token."""
    for note in audit.notes:
        st.info(markdown_safe(note), icon=":material/rule:")


def figures(verdict: Verdict) -> None:
    """Parameters, the part in E and W, and what tying saves."""
    costs = verdict.costs
    tables = costs.embedding + costs.head
    share = "–" if costs.share is None else percent(costs.share)
    cells = (
        (
            "parameters",
            short_count(costs.total),
            f"{count(costs.total)}, each once; {costs.origin}",
        ),
        ("in E and W", f"{short_count(tables)} · {share}", f"{count(tables)} numbers"),
        ("saved by tying", short_count(costs.saved_by_tying), f"{count(costs.saved_by_tying)}"),
        ("wasted in the file", exact_size(costs.wasted_bytes), "a second copy of one matrix")
        if costs.wasted_bytes
        else ("saved in bf16", exact_size(2 * costs.saved_by_tying), "two bytes for each number"),
    )
    for column, (label, value, help_text) in zip(st.columns(4), cells, strict=True):
        column.metric(label, value, help=help_text)
    if costs.unpacked_bytes or costs.uncounted:
        st.caption(f"Parameters {costs.origin}.")


def verdict_tab(audit: Audit | None) -> None:
    """What follows from the verdict: costs, lines to run, and how alike two matrices are."""
    if audit is None:
        st.caption("Nothing is heard yet.")
        return
    verdict = audit.verdict
    _costs(verdict.costs, decided=verdict.word not in _WITHOUT_COSTS)
    _repair(audit)
    loaded = model_pool().get(audit.model)
    if verdict.word not in ("untied", "contradiction", "near_twin"):
        return
    if loaded is None:
        st.markdown("**How alike E and W are**, row by row, is known once the model is open.")
        open_button(chosen_source(), key="open to compare E and W")
    elif not loaded.tied:
        _alike(loaded)


def _costs(costs: Costs, *, decided: bool) -> None:
    """The bill: each part, what sharing saves or would save, and what a second copy wastes."""
    parts = [("the whole model", costs.total), ("E", costs.embedding)]
    if costs.head:
        parts.append(("W, a matrix of its own", costs.head))
    if decided and 0 < costs.head == costs.embedding:
        parts.append(("one table for both would save", costs.head))
    if decided and costs.saved_by_tying:
        parts.append(("a W of its own would add", costs.saved_by_tying))
    rows = [
        {
            "part": part,
            "parameters": count(numbers),
            "share": percent(numbers / costs.total) if costs.total else "–",
            "float32": exact_size(4 * numbers),
            "bfloat16": exact_size(2 * numbers),
        }
        for part, numbers in parts
    ]
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


def _repair(audit: Audit) -> None:
    """Lines to run, or the sentence that says why no lines would do."""
    if audit.declared is None or audit.stored is None:
        return
    repair = repair_for(audit.verdict.word, audit.declared, audit.stored)
    if not repair:
        return
    st.markdown("**Repair**, to run yourself: it writes a copy, and this page never runs it")
    if isinstance(repair, str):
        st.caption(markdown_safe(repair))
        return
    after = repair.gives.replace("_", " ")
    gives = f"The files are *{after}* afterwards." if after else "Audit the copy afterwards."
    st.caption(f"{markdown_safe(repair.what)} {gives}")
    st.code(repair.code, language="python", wrap_lines=True)


def _alike(loaded: LoadedModel) -> None:
    """How alike E and W are, where they are two; on demand, since it takes seconds."""
    st.markdown("**How alike E and W are**")
    if loaded.embedding.shape != loaded.scoring_matrix.shape:
        st.caption("Their shapes differ, so their rows cannot be compared.")
        return
    if "alike" not in loaded.memo:
        place = st.empty()
        if not place.button("Compare E and W row by row"):
            st.caption("Row cosine, shared neighbours, and the cosine after the best rotation.")
            return
        place.empty()  # the numbers take its place
        from tiedviz.verdict.comparisons import alikeness

        with st.spinner("Comparing", show_time=True), loaded.lock:
            loaded.memo["alike"] = alikeness(loaded.embedding, loaded.scoring_matrix)
    found = loaded.memo["alike"]
    first, second, third = st.columns(3)
    first.metric("mean row cosine", f"{found.row_cosine:.3f}", help="row j of E with row j of W")
    second.metric(
        "neighbours shared",
        f"{percent(found.neighbours_shared)} ± {percent(found.neighbours_margin)}",
        help=f"of the 10 nearest rows by cosine, over {found.anchors:,} rows drawn once",
    )
    third.metric(
        "cosine after rotation",
        f"{found.after_rotation:.3f}",
        help="the best orthogonal map of E onto W (Procrustes): 1 would be one matrix, turned",
    )
