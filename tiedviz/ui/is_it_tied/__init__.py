"""The pieces of the page Is it tied?, in the order in which they stand on it."""

from tiedviz.ui.is_it_tied.banner import banner, figures, notes, witness_rows
from tiedviz.ui.is_it_tied.heard import Heard, hear_chosen
from tiedviz.ui.is_it_tied.report import share_and_export
from tiedviz.ui.is_it_tied.tabs import tabs

__all__ = [
    "Heard",
    "banner",
    "figures",
    "hear_chosen",
    "notes",
    "share_and_export",
    "tabs",
    "witness_rows",
]
