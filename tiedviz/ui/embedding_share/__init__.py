"""The pieces of the page Embedding share. Here: the models shown as a table, and Share & export."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from tiedviz.charts.embedding_share import share_card
from tiedviz.ui.embedding_share.chart import (
    ChosenPoint,
    chosen_point,
    filtered_models,
    share_against_size,
)
from tiedviz.ui.embedding_share.counts import COMPARED_KEY, any_model, where_parameters_go
from tiedviz.ui.frame.model_choice import GPT2, MODEL_KEY
from tiedviz.ui.share import csv_button, share
from tiedviz.words.catalogue import CatalogueRow, catalogue, find_row
from tiedviz.words.numbers import count, percent

__all__ = [
    "VIEW_KEY",
    "any_model",
    "filtered_models",
    "share_against_size",
    "share_and_export",
    "share_table",
    "where_parameters_go",
]


def share_table(shown: pd.DataFrame) -> None:
    """The rows that pass the filters; the header sorts, the magnifier searches."""
    column = st.column_config
    whole = {
        "parameters": ("parameters", "each stored number once"),
        "V": ("V", "rows of E"),
        "d": ("d", "width of E"),
        "layers": ("L", "block calls on the way to the output"),
        "embedding": ("E", "numbers in E"),
        "head": ("W", "numbers in a separate output matrix; 0 where tied"),
        "if_untied": ("if untied", "parameters with two tables"),
        "used": (
            "used",
            "numbers used in a forward pass: a tied table for reading and for scoring, a shared "
            "block at every call, of experts only those chosen",
        ),
        "product_operations": ("2·V·d", "operations of the output product a token, tied or not"),
        "file_numbers": ("in the file", "numbers stored in the published file, where known"),
        "published": ("published", "published number of parameters, where known"),
    }
    columns = {
        "repo_id": column.TextColumn("model", pinned=True),
        "family": column.TextColumn("family"),
        "year": column.NumberColumn("year", format="%d"),
        "tied": column.TextColumn("E and W"),
        "percent": column.NumberColumn("share", format="%.1f %%", help="(E + W) / parameters"),
        **{
            name: column.NumberColumn(title, format="localized", help=meaning)
            for name, (title, meaning) in whole.items()
        },
        "source": column.TextColumn("source of the configuration"),
        "note": column.TextColumn("note"),
    }
    st.dataframe(
        shown.assign(percent=shown["share"] * 100),
        hide_index=True,
        key="share table",
        height=480,
        column_order=list(columns),
        column_config=columns,
        alt="All models shown, with their counts and sources",
    )
    st.caption(
        "Counted from each model's published configuration, not read from a file. Click a column "
        "head to sort; the magnifier at the table's corner searches."
    )
    csv_button(shown, "embedding-share-table", "Download these rows as CSV")


VIEW_KEY = "view"


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
        row = find_row(GPT2)
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
    return {"models": [row.record() for row in catalogue() if row.repo_id in passed]}


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
