"""The pieces of the page Layers, in the order in which they stand on it."""

from tiedviz.ui.layers.answer import (
    cell,
    headline,
    picture,
    proof,
    require_lens,
    share_and_export,
    through_the_layers,
)
from tiedviz.ui.layers.controls import layer_slider, watched_tokens, window

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
