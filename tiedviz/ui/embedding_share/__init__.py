"""The pieces of the page Embedding share, in the order of its tabs."""

from tiedviz.ui.embedding_share.chart import filtered_models, share_against_size
from tiedviz.ui.embedding_share.counts import any_model, where_parameters_go
from tiedviz.ui.embedding_share.models_table import VIEW_KEY, share_and_export, share_table

__all__ = [
    "VIEW_KEY",
    "any_model",
    "filtered_models",
    "share_against_size",
    "share_and_export",
    "share_table",
    "where_parameters_go",
]
