"""The pieces of the page Embedding share, in the order of its tabs."""

from tiedviz.ui.embedding_share.any_model import any_model
from tiedviz.ui.embedding_share.chart import share_against_size
from tiedviz.ui.embedding_share.filters import filtered_models
from tiedviz.ui.embedding_share.parts import where_parameters_go
from tiedviz.ui.embedding_share.share import VIEW_KEY, share_and_export
from tiedviz.ui.embedding_share.table import share_table

__all__ = [
    "VIEW_KEY",
    "any_model",
    "filtered_models",
    "share_against_size",
    "share_and_export",
    "share_table",
    "where_parameters_go",
]
