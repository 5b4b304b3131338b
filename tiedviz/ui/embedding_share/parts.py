"""The tab Where parameters go: chosen models, part by part."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.charts.embedding_share import TIED_TABLE, parts_chart
from tiedviz.ui.drawing import draw
from tiedviz.ui.embedding_share.chosen import chosen_point
from tiedviz.words.catalogue import CatalogueRow, catalogue, find_row
from tiedviz.words.numbers import percent
from tiedviz.words.parts import PARTS, PARTS_HELP, PartCounts
from tiedviz.words.tokens import markdown_safe

_FIRST = ("openai-community/gpt2", "google/gemma-3-270m", "Qwen/Qwen2.5-3B", "Qwen/Qwen2.5-7B")
_MOST = 8
COMPARED_KEY = "share_models"


def where_parameters_go() -> None:
    """Let models be chosen; draw their bars and the numbers."""
    point = chosen_point()
    first = [point.row.repo_id] if point is not None and point.row is not None else []
    names = st.multiselect(
        "Models, side by side",
        [row.repo_id for row in catalogue()],
        default=list(dict.fromkeys([*first, *_FIRST])),
        max_selections=_MOST,
        key=COMPARED_KEY,
        bind="query-params",
    )
    rows = [row for name in names if (row := find_row(name)) is not None]
    if not rows:
        st.info("Choose at least one model above.")
        return
    relative = st.toggle("Bars equally long", value=True, key="share bars", persist_state="session")
    named = _labels(rows)
    pieces = pd.concat(
        [part_pieces(label, row.parts, row.tied) for label, row in named.items()],
        ignore_index=True,
    )
    draw(
        st,
        parts_chart(pieces, relative),
        key="parts chart",
        alt="Stacked bars: the parts of each chosen model's parameters",
    )
    shares = ", ".join(f"{label} {percent(row.parts.share)}" for label, row in named.items())
    st.markdown(f"In the tables: {markdown_safe(shares)}.")
    _numbers(named)


def part_pieces(label: str, parts: PartCounts, tied: bool) -> pd.DataFrame:
    """The rows of `parts_chart` for one model; empty parts are left out."""
    rows = []
    for order, (field, name) in enumerate(PARTS.items()):
        numbers = getattr(parts, field)
        if numbers:
            part = TIED_TABLE if tied and field == "embedding" else name
            rows.append((label, part, order, numbers, numbers / parts.total))
    return pd.DataFrame(rows, columns=["model", "part", "order", "numbers", "fraction"])


def _labels(rows: list[CatalogueRow]) -> dict[str, CatalogueRow]:
    """Names without owners where that tells them apart, else whole ids: equal names would merge."""
    names = [row.name for row in rows]
    return {row.name if names.count(row.name) == 1 else row.repo_id: row for row in rows}


def _numbers(named: dict[str, CatalogueRow]) -> None:
    """The same as a table; each column adds up to its last line."""
    table = pd.DataFrame(
        {
            label: [getattr(row.parts, field) for field in PARTS] + [row.total]
            for label, row in named.items()
        },
        index=[*PARTS.values(), "all parameters"],
    )
    st.dataframe(
        table,
        column_config={label: st.column_config.NumberColumn(format="localized") for label in named},
        key="parts table",
        alt="Numbers in each part of the chosen models",
    )
    st.caption(
        "Each stored number once, so the parts add up to the whole. "
        + "; ".join(f"*{PARTS[part]}*: {meaning}" for part, meaning in PARTS_HELP.items())
        + "."
    )
