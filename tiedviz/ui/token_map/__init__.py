"""The pieces of the page Token map, in the order in which they stand on it."""

from tiedviz.ui.token_map.drawn import drawn_map, fill_recall, left_out, metrics
from tiedviz.ui.token_map.export import share_and_export
from tiedviz.ui.token_map.neighbours import asked
from tiedviz.ui.token_map.picture import picture
from tiedviz.ui.token_map.tabs import answer_of, states_of, tabs

__all__ = [
    "answer_of",
    "asked",
    "drawn_map",
    "fill_recall",
    "left_out",
    "metrics",
    "picture",
    "share_and_export",
    "states_of",
    "tabs",
]
