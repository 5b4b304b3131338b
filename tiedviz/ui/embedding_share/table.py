"""The tab Table: everything that is shown, to sort, search and take away."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from tiedviz.ui.share import csv_button


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
