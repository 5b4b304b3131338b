"""The pieces of the page Compare, in the order in which they stand on it."""

from tiedviz.ui.compare.agree import agreements
from tiedviz.ui.compare.columns import columns
from tiedviz.ui.compare.dots import dots
from tiedviz.ui.compare.errands import invitation, opening_place, run_errands
from tiedviz.ui.compare.seats import seats
from tiedviz.ui.compare.shape import shape
from tiedviz.ui.compare.share import share_and_export

__all__ = [
    "agreements",
    "columns",
    "dots",
    "invitation",
    "opening_place",
    "run_errands",
    "seats",
    "shape",
    "share_and_export",
]
