"""Share & export for the page Embedding share."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from tiedviz.charts.embedding_share import share_card
from tiedviz.ui.embedding_share.chosen import ChosenPoint, chosen_point
from tiedviz.ui.embedding_share.parts import COMPARED_KEY
from tiedviz.ui.frame.choice import MODEL_KEY
from tiedviz.ui.share import share
from tiedviz.words.catalogue import CatalogueRow, catalogue, find_row
from tiedviz.words.numbers import count, percent

VIEW_KEY = "view"
_GPT2 = "openai-community/gpt2"  # whose numbers the code gives where the chosen model has no row


def share_and_export(shown: pd.DataFrame) -> None:
    """The popover: link, command, plain transformers code, the rows shown, a picture."""
    point, state = chosen_point(), st.session_state
    with share(
        "embedding_share",
        link={
            "model": state.get(MODEL_KEY),
            "view": state.get(VIEW_KEY),
            COMPARED_KEY: state.get(COMPARED_KEY, []),
        },
        commands=[["share", "--json"]],
        code=python_code(None if point is None else point.row),
        table=shown,
        record=_record(shown),
    ):
        if point is not None:
            _picture(point)


def python_code(row: CatalogueRow | None) -> str:
    """Plain transformers code that counts the chosen model; GPT-2 where that is no causal one."""
    if row is None or row.kind != "causal" or row.checkpoint_untied:
        row = find_row(_GPT2)
        assert row is not None
    return (
        "import torch\n"
        "from transformers import AutoConfig, AutoModelForCausalLM\n"
        f"config = AutoConfig.from_pretrained({row.repo_id!r})\n"
        'with torch.device("meta"):  # no weights\n'
        "    model = AutoModelForCausalLM.from_config(config)\n"
        "E, W = model.get_input_embeddings().weight, model.get_output_embeddings().weight\n"
        "total = sum(p.numel() for p in model.parameters())  # each once\n"
        "tables = E.numel() + (0 if W is E else W.numel())\n"
        f"print(total, tables / total)  # {row.total} {row.parts.share:.6f}\n"
    )


def _record(shown: pd.DataFrame) -> dict[str, Any]:
    """As `share --json` prints the same rows."""
    passed = set(shown["repo_id"])
    return {
        "models": [
            {
                "repo_id": row.repo_id,
                "family": row.family,
                "tied": row.tied,
                "parameters": {
                    "total": row.total,
                    "embedding": row.parts.embedding,
                    "head": row.parts.head,
                    "share": row.parts.share,
                    "parts": asdict(row.parts),
                },
            }
            for row in catalogue()
            if row.repo_id in passed
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
    detail = (
        f"{count(point.parameters)} parameters, each counted once; E holds {count(point.V)} by "
        f"{count(point.d)} numbers"
    )
    origin = "tiedviz · share = (E + W where separate) / parameters"
    return share_card(headline_of(point), detail, origin, list(point.tables))
