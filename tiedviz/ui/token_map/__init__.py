"""The pieces of the page Token map, in the order in which they stand on it."""

from tiedviz.ui.token_map.chosen import asked
from tiedviz.ui.token_map.drawn import drawn_map
from tiedviz.ui.token_map.path import answer_of, states_of
from tiedviz.ui.token_map.picture import picture
from tiedviz.ui.token_map.share import share_and_export
from tiedviz.ui.token_map.strip import fill_kept, left_out, strip
from tiedviz.ui.token_map.tabs import tabs

__all__ = [
    "answer_of",
    "asked",
    "drawn_map",
    "fill_kept",
    "left_out",
    "picture",
    "share_and_export",
    "states_of",
    "strip",
    "tabs",
]
