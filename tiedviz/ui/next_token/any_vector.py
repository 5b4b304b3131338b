"""Read any vector: a file in, ranked against the matrix; h as a file out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tiedviz.ui.frame.refusals import show_refusal
from tiedviz.ui.share import csv_button
from tiedviz.words.numbers import count
from tiedviz.words.refusals import Refusal

if TYPE_CHECKING:
    import torch

    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel


def read_any_vector(loaded: LoadedModel, reading: ScoredState) -> None:
    """An upload, the ten rows nearest to it, and h of this page as the same kind of file."""
    from tiedviz.compute.next_token.any_vector import read_vector, vector_bytes

    width = loaded.scoring_matrix.shape[1]
    matrix = "E" if loaded.tied else "W"
    with st.expander("Read any vector", icon=":material/upload_file:"):
        state = reading.name
        st.download_button(
            f"{state} of this page as .npy",
            vector_bytes(reading.h),
            f"{state}.npy",
            "application/octet-stream",
            on_click="ignore",
        )
        file = st.file_uploader(
            f"A .npy file with {count(width)} numbers",
            type="npy",
            key="any vector",
            max_upload_size=5,
            help="From numpy.save, of shape (d,) or (1, d), any integer or floating-point dtype.",
        )
        if file is None:
            st.caption(
                f"It is put in the place of {state}: multiplied with every row of {matrix}, "
                "nothing normed before."
            )
            return
        try:
            vector = read_vector(file.getvalue(), width)
        except Refusal as refusal:
            show_refusal(refusal)
            return
        _ranked(loaded, vector)


def _ranked(loaded: LoadedModel, vector: torch.Tensor) -> None:
    from tiedviz.compute.next_token.any_vector import scored
    from tiedviz.compute.next_token.ranking import By, nearest_tokens

    by = st.segmented_control(
        "Nearest to it by",
        [each.value for each in By],
        default="logit",
        key="any vector by",
        required=True,
    )
    found = scored(loaded, vector)
    frame = nearest_tokens(loaded, found, by=By(str(by or "logit")))
    st.caption(
        f"‖v‖ = {float(found.h.norm()):.3f}. Logits include what the model does after the matrix; "
        f"probabilities are at temperature 1 ({loaded.dtype})."
    )
    column = st.column_config
    columns = {
        "rank": column.NumberColumn("rank", format="%d"),
        "text": column.TextColumn("token"),
        "id": column.NumberColumn("id", format="%d"),
        "logit": column.NumberColumn("logit", format="%.2f"),
        "percent": column.NumberColumn("prob.", format="%.1f %%"),
        "cosine": column.NumberColumn("cos", format="%.3f"),
        "distance": column.NumberColumn("distance", format="%.3f"),
    }
    st.dataframe(
        frame.assign(percent=frame["probability"] * 100),
        hide_index=True,
        key="any vector table",
        height="content",
        column_order=list(columns),
        column_config=columns,
        alt="The ten tokens nearest to the uploaded vector",
    )
    csv_button(frame, "vector")
