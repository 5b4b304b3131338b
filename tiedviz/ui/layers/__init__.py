"""The pieces of the page Layers, in the order in which they stand on it."""

from tiedviz.ui.layers.answer import headline, proof, require_lens
from tiedviz.ui.layers.cell import cell
from tiedviz.ui.layers.controls import layer_slider, watched_tokens, window
from tiedviz.ui.layers.lines import through_the_layers
from tiedviz.ui.layers.picture import picture
from tiedviz.ui.layers.share import share_and_export

__all__ = [
    "cell",
    "headline",
    "layer_slider",
    "picture",
    "proof",
    "require_lens",
    "share_and_export",
    "through_the_layers",
    "watched_tokens",
    "window",
]
