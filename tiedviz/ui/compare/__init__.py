"""The pieces of the page Compare, in the order in which they stand on it."""

from tiedviz.ui.compare.answers import agreements, dots
from tiedviz.ui.compare.columns import columns
from tiedviz.ui.compare.export import share_and_export
from tiedviz.ui.compare.geometry import shape
from tiedviz.ui.compare.model_queue import invitation, opening_place, run_model_queue
from tiedviz.ui.compare.models import compared_models

__all__ = [
    "agreements",
    "columns",
    "compared_models",
    "dots",
    "invitation",
    "opening_place",
    "run_model_queue",
    "shape",
    "share_and_export",
]
