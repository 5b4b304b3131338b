"""The pieces of the page Walkthrough, in the order in which they stand on it."""

from tiedviz.ui.walkthrough.share import share_and_export
from tiedviz.ui.walkthrough.stepper import heading, onward, stepper
from tiedviz.ui.walkthrough.steps import draw

__all__ = ["draw", "heading", "onward", "share_and_export", "stepper"]
