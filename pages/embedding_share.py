"""What does the vocabulary cost?"""

import streamlit as st

from tiedviz.ui import embedding_share
from tiedviz.ui.calculator import calculator
from tiedviz.ui.frame import page_head

corner = page_head(
    "Embedding share",
    "How much of a model is its vocabulary? share = (E + W where it is a separate matrix) / all "
    "parameters. Released models, counted from their published config.json; nothing is built or "
    "downloaded for this chart.",
)
shown = embedding_share.filtered_models()
chart, parts, cost, any_model, table = st.tabs(
    ["Chart", "Where parameters go", "Calculator", "Any model", "Table"],
    key=embedding_share.VIEW_KEY,
    bind="query-params",
)
if chart.open:
    with chart:
        embedding_share.share_against_size(shown)
if parts.open:
    with parts:
        embedding_share.where_parameters_go()
if cost.open:
    with cost:
        calculator()
if any_model.open:
    with any_model:
        embedding_share.any_model()
if table.open:
    with table:
        embedding_share.share_table(shown)
with corner:
    embedding_share.share_and_export(shown)
