"""How alike E and W are, where they are two matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.words.numbers import percent

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel


def alike(loaded: LoadedModel) -> None:
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
        from tiedviz.verdict.alike import alikeness

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
