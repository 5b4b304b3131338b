"""Share & export for the page Embedding share."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from tiedviz.charts.card import share_card
from tiedviz.ui.embedding_share.chosen import ChosenPoint, chosen_point
from tiedviz.ui.embedding_share.parts import COMPARED_KEY
from tiedviz.ui.export import permalink, show_command, show_downloads, show_link
from tiedviz.ui.frame.choice import MODEL_KEY
from tiedviz.words.numbers import count, percent

VIEW_KEY = "view"
_CODE = """\
import torch
from transformers import AutoConfig, AutoModelForCausalLM
config = AutoConfig.from_pretrained("openai-community/gpt2")
with torch.device("meta"):  # no weights
    model = AutoModelForCausalLM.from_config(config)
E, W = model.get_input_embeddings().weight, model.get_output_embeddings().weight
total = sum(p.numel() for p in model.parameters())  # each once
tables = E.numel() + (0 if W is E else W.numel())
print(total, tables / total)  # 124439808 0.310...
"""


def share_and_export(shown: pd.DataFrame) -> None:
    """The popover: link, command, plain transformers code, the rows shown, a picture."""
    with st.popover("Share & export", icon=":material/ios_share:"):
        show_link(_link())
        show_command("share", "--json")
        st.markdown("**Python, without this app**")
        st.code(_CODE, language="python")
        show_downloads("embedding-share", shown, _record(shown))
        if (point := chosen_point()) is not None:
            _picture(point)


def _link() -> str:
    """This page as it is, the compared models included."""
    state = st.session_state
    link = permalink("embedding_share", model=state.get(MODEL_KEY), view=state.get(VIEW_KEY))
    compared = [(COMPARED_KEY, name) for name in state.get(COMPARED_KEY, [])]
    return f"{link}&{urlencode(compared)}" if compared else link


def _record(shown: pd.DataFrame) -> dict[str, Any]:
    """As `share --json` prints the same rows."""
    parts = ["total", "embedding", "head", "share"]
    rows = shown.rename(columns={"parameters": "total"})
    return {
        "models": [
            {
                "repo_id": str(row["repo_id"]),
                "family": str(row["family"]),
                "tied": row["tied"] == "tied",
                "parameters": {
                    part: float(row[part]) if part == "share" else int(row[part]) for part in parts
                },
            }
            for row in rows.to_dict("records")
        ]
    }


def _picture(point: ChosenPoint) -> None:
    st.download_button(
        "Card (PNG)",
        lambda: card_of(point),
        "embedding-share.png",
        "image/png",
        icon=":material/image:",
        on_click="ignore",
        help=headline_of(point),
    )


def headline_of(point: ChosenPoint) -> str:
    """As in: 62.6 % of Gemma 3 270M is one table."""
    tables = "is one table" if point.tied else "is two tables"
    return f"{percent(point.share)} of {point.title} {tables}."


def card_of(point: ChosenPoint) -> bytes:
    """The picture of the chosen model."""
    row = point.row
    if point.tied or row is None:
        tables = [point.share]
    else:
        tables = [row.parts.embedding_share, row.parts.head / row.total]
    detail = f"{count(point.parameters)} parameters, each counted once"
    if row is not None:
        detail += f"; E holds {count(row.V)} by {count(row.d)} numbers"
    origin = "tiedviz · share = (E + W where separate) / parameters"
    return share_card(headline_of(point), detail, origin, tables)
