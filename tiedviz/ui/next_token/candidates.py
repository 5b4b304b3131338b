"""The ten tokens nearest to a state, or to any vector: bars, tables, buttons to go on with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.charts.next_token import PICK, candidate_bars
from tiedviz.charts.palette import scoring_colour
from tiedviz.ui.drawing import draw
from tiedviz.ui.frame import show_refusal
from tiedviz.ui.prompt_bar import append_to_prompt
from tiedviz.ui.share import csv_button
from tiedviz.words.numbers import count
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    import torch

    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel


TOKEN_KEY = "token"
BY_KEY = "nearest by"
TEMPERATURE_KEY = "temperature"
_MEASURES = {"logit": "probability", "cosine": "cosine", "distance": "distance"}
_BAR_HELP = {
    "logit": "Longer bar: a row with a larger dot product with {state}. Click one to take it "
    "apart.",
    "cosine": "Longer bar: a row that points more the way {state} points, however long it is.",
    "distance": "Shorter bar: a row that lies closer to {state}. Long rows and short ones differ "
    "here.",
}


def candidates(loaded: LoadedModel, state: ScoredState) -> tuple[int, pd.DataFrame]:
    """Draw them. Returns the id of the token under inspection, and the table."""
    from tiedviz.compute.next_token.candidates import COLUMNS, By, nearest_tokens

    by, temperature = _controls()
    frame = nearest_tokens(loaded, state, by=By(by), temperature=temperature)
    picked = _picked(frame, len(state.logits))
    left, right = st.columns([5, 6])
    with left:
        bars = candidate_bars(frame, _MEASURES[by], scoring_colour(loaded.tied), picked, state.name)
        draw(st, bars, key="candidate bars", on_select=_take_pick)
        st.caption(_BAR_HELP[by].format(state=state.name))
    with right:
        placed = sorted((column for column in COLUMNS if column.place), key=lambda it: it.place)
        _table(
            frame,
            [column.name for column in placed],
            key="candidate table",
            alt="The ten nearest tokens with logit, probability, cosine, ranks and row length",
        )
    _append_row(loaded, frame)
    return picked, frame


def _controls() -> tuple[str, float]:
    left, right = st.columns([5, 6], vertical_alignment="bottom")
    by = left.segmented_control(
        "Nearest by",
        list(_MEASURES),
        default="logit",
        key=BY_KEY,
        required=True,
        persist_state="session",
        help="logit: the model's own answer. cosine: direction alone. distance: ordinary "
        "Euclidean distance. They disagree because rows of E differ in length.",
    )
    temperature = right.slider(
        "Temperature",
        0.1,
        3.0,
        1.0,
        0.1,
        key=TEMPERATURE_KEY,
        persist_state="session",
        help="Logits are divided by it before softmax: below 1 sharper, above 1 flatter. "
        "The order never changes.",
    )
    return str(by or "logit"), float(temperature)


def _picked(frame: pd.DataFrame, rows: int) -> int:
    """The token under inspection: the one clicked or in the link, else the nearest.

    One that was clicked gives way when it is no longer among the ten; one in the link stays.
    """
    clicked, linked = st.session_state.get(TOKEN_KEY), st.query_params.get(TOKEN_KEY, "")
    if clicked is not None and clicked in set(frame["id"]):
        return int(clicked)
    if clicked is None and re.fullmatch(r"[0-9]{1,9}", linked) and int(linked) < rows:
        return int(linked)
    return int(frame["id"].iloc[0])


def _take_pick() -> None:
    chosen = st.session_state["candidate bars"]["selection"].get(PICK) or []
    if chosen:
        st.session_state[TOKEN_KEY] = int(chosen[0]["id"])


def _table(frame: pd.DataFrame, names: Sequence[str], key: str, alt: str) -> None:
    """The columns called `names`, in this order, printed as `COLUMNS` says."""
    from tiedviz.compute.next_token.candidates import COLUMNS

    columns = {column.name: column for column in COLUMNS}
    shown, config = frame, {}
    for column in (columns[name] for name in names):
        name = f"{column.name} in percent" if column.percent else column.name
        if column.percent:
            shown = shown.assign(**{name: frame[column.name] * 100})
        config[name] = (
            st.column_config.NumberColumn(column.title, format=column.format, help=column.help)
            if column.format
            else st.column_config.TextColumn(column.title, help=column.help)
        )
    st.dataframe(
        shown,
        hide_index=True,
        key=key,
        height="content",
        column_order=list(config),
        column_config=config,
        alt=alt,
    )


def _append_row(loaded: LoadedModel, frame: pd.DataFrame) -> None:
    """One button for each candidate that is text; pressing it writes it behind the prompt."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption("Go on with", width="content")
        for rank, token in enumerate(loaded.vocabulary.tokens(frame["id"].tolist()), 1):
            st.button(
                markdown_safe(token.shown),
                key=f"append {rank}",
                disabled=token.special or not token.whole,
                help=None if token.whole else "Part of a character: it cannot be typed.",
                on_click=append_to_prompt,
                args=(token.text,),
                type="tertiary",
            )


def read_any_vector(loaded: LoadedModel, state: ScoredState) -> None:
    """An upload, the ten rows nearest to it, and h of this page as the same kind of file."""
    from tiedviz.compute.next_token.state import read_vector, vector_bytes

    width = loaded.scoring_matrix.shape[1]
    matrix = "E" if loaded.tied else "W"
    with st.expander("Read any vector", icon=":material/upload_file:"):
        st.download_button(
            f"{state.name} of this page as .npy",
            vector_bytes(state.h),
            f"{state.name}.npy",
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
                f"It is put in the place of {state.name}: multiplied with every row of {matrix}, "
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
    from tiedviz.compute.next_token.candidates import By, nearest_tokens
    from tiedviz.compute.next_token.state import score_vector

    by = st.segmented_control(
        "Nearest to it by",
        [each.value for each in By],
        default="logit",
        key="any vector by",
        required=True,
    )
    found = score_vector(loaded, vector)
    frame = nearest_tokens(loaded, found, by=By(str(by or "logit")))
    st.caption(
        f"‖v‖ = {float(found.h.norm()):.3f}. Logits include what the model does after the matrix; "
        f"probabilities are at temperature 1 ({loaded.dtype})."
    )
    _table(
        frame,
        ("rank", "text", "id", "logit", "probability", "cosine", "distance"),
        key="any vector table",
        alt="The ten tokens nearest to the uploaded vector",
    )
    csv_button(frame, "vector")
