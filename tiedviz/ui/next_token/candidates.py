"""The ten nearest tokens: bars, table, and a button each to go on with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from tiedviz.charts.next_token import PICK, candidate_bars
from tiedviz.charts.palette import scoring_colour
from tiedviz.ui.drawing import draw
from tiedviz.ui.prompt_bar import append_to_prompt
from tiedviz.words.tokens import markdown_safe

if TYPE_CHECKING:
    from tiedviz.compute.next_token.state import ScoredState
    from tiedviz.models.loaded import LoadedModel

TOKEN_KEY = "token"
BY_KEY = "nearest by"
TEMPERATURE_KEY = "temperature"
_MEASURES = {"logit": "probability", "cosine": "cosine", "distance": "distance"}
_READING_HELP = {
    "logit": "Longer bar: a row with a larger dot product with {state}. Click one to take it "
    "apart.",
    "cosine": "Longer bar: a row that points more the way {state} points, however long it is.",
    "distance": "Shorter bar: a row that lies closer to {state}. Long rows and short ones differ "
    "here.",
}


def candidates(loaded: LoadedModel, reading: ScoredState) -> tuple[int, pd.DataFrame]:
    """Draw them. Returns the id of the token under inspection, and the table."""
    from tiedviz.compute.next_token.ranking import By, nearest_tokens

    by, temperature = _controls()
    frame = nearest_tokens(loaded, reading, by=By(by), temperature=temperature)
    picked = _picked(frame, len(reading.logits))
    left, right = st.columns([5, 6])
    with left:
        bars = candidate_bars(
            frame, _MEASURES[by], scoring_colour(loaded.tied), picked, reading.name
        )
        draw(st, bars, key="candidate bars", on_select=_take_pick)
        st.caption(_READING_HELP[by].format(state=reading.name))
    with right:
        _table(frame)
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


def _table(frame: pd.DataFrame) -> None:
    column = st.column_config
    columns = {
        "text": column.TextColumn("token"),
        "id": column.NumberColumn("id", format="%d"),
        "logit": column.NumberColumn("logit", format="%.2f"),
        "percent": column.NumberColumn("prob.", format="%.1f %%"),
        "cosine": column.NumberColumn("cos", format="%.3f"),
        "rank_cosine": column.NumberColumn("by cos", format="%d", help="rank by cosine"),
        "rank_distance": column.NumberColumn("by dist", format="%d", help="rank by distance"),
        "norm": column.NumberColumn("‖e‖", format="%.3f", help="length of the token's row"),
    }
    st.dataframe(
        frame.assign(percent=frame["probability"] * 100),
        hide_index=True,
        key="candidate table",
        height="content",
        column_order=list(columns),
        column_config=columns,
        alt="The ten nearest tokens with logit, probability, cosine, ranks and row length",
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
