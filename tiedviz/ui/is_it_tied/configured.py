"""Where tying is configured, all ties of the model, other loaders, and what to run to repair it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.caches import residents
from tiedviz.ui.is_it_tied.banner import prose
from tiedviz.ui.is_it_tied.heard import Heard
from tiedviz.words.repairs import repair_for

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel


def configured_tab(heard: Heard | None) -> None:
    """Class, `_tied_weights_keys` and file; groups; loaders; repair; how alike two matrices are."""
    if heard is None:
        st.caption("Nothing is heard yet.")
        return
    verdict = heard.hearing.verdict
    loaded = residents().get(heard.source.text)
    if loaded is None:
        st.caption("Open the model to see the class that ties it and its file.")
    else:
        st.markdown("**Where it is configured**")
        st.code(_three_lines(loaded), language="python")
    _groups(verdict.groups)
    if verdict.other_loaders:
        st.markdown("**What other loaders do**")
        st.markdown("\n".join(f"* {prose(line)}" for line in verdict.other_loaders))
    declared = heard.hearing.declared
    flag = "" if declared.inferred else declared.path
    if repair := repair_for(verdict.word, flag, tied=declared.tied):
        st.markdown("**Repair**, to run yourself on a copy; this page never runs it")
        st.code(repair, language="python")
    if loaded is not None and not loaded.tied:
        _alike(loaded)


def _three_lines(loaded: LoadedModel) -> str:
    """The class with its tied keys, the config field, the file in the installed library."""
    kind = type(loaded.model)
    keys = getattr(kind, "_tied_weights_keys", None)
    flag = getattr(loaded.model.config.get_text_config(), "tie_word_embeddings", None)
    return (
        f"{kind.__name__}._tied_weights_keys = {keys}\n"
        f"model.config.tie_word_embeddings == {flag}\n"
        f"# {_written_at(kind)}"
    )


def _written_at(kind: type) -> str:
    """`transformers/…/modeling_gpt2.py, line 690`: where a class is written.

    `inspect.getsourcelines` is not asked: it parses the whole file through a cache of lines that
    all threads share, and failed once while eight visitors were served at the same time.
    """
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    shown = kind.__module__.replace(".", "/") + ".py"  # never the folder it is installed in
    if file is None:
        return shown
    source = Path(file).read_text(encoding="utf-8")
    found = re.search(rf"^class {kind.__name__}\b", source, re.MULTILINE)
    return f"{shown}, line {source.count(chr(10), 0, found.start()) + 1}" if found else shown


def _groups(groups: tuple[tuple[str, ...], ...]) -> None:
    if groups:
        st.markdown("**Names of the same numbers**")
        st.code("\n".join(" = ".join(group) for group in groups), language=None, wrap_lines=True)


def _alike(loaded: LoadedModel) -> None:
    """How alike E and W are, where they are two; on demand, since it takes seconds."""
    st.markdown("**How alike E and W are**")
    if loaded.embedding.shape != loaded.scoring_matrix.shape:
        st.caption("Their shapes differ, so their rows cannot be compared.")
        return
    if "alike" not in loaded.memo:
        if not st.button("Compare E and W row by row"):
            st.caption("Row cosine, shared neighbours, and the cosine after the best rotation.")
            return
        from tiedviz.compute.tying.alike import alikeness

        with st.spinner("Comparing", show_time=True), loaded.lock:
            loaded.memo["alike"] = alikeness(loaded.embedding, loaded.scoring_matrix)
    found = loaded.memo["alike"]
    first, second, third = st.columns(3)
    first.metric("mean row cosine", f"{found.row_cosine:.3f}", help="row j of E with row j of W")
    second.metric(
        "neighbours shared",
        f"{found.neighbours_shared:.1%} ± {found.neighbours_margin:.1%}",
        help=f"of the 10 nearest rows by cosine, over {found.anchors:,} rows drawn once",
    )
    third.metric(
        "cosine after rotation",
        f"{found.after_rotation:.3f}",
        help="the best orthogonal map of E onto W (Procrustes): 1 would be one matrix, turned",
    )
