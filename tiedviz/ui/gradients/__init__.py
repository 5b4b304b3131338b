"""The pieces of the page Gradients, in the order in which they stand on it."""

from tiedviz.ui.gradients.answer import headline, positions, proof, rows, share_and_export, two_bars
from tiedviz.ui.gradients.run import results, run, task

__all__ = [
    "headline",
    "positions",
    "proof",
    "results",
    "rows",
    "run",
    "share_and_export",
    "task",
    "two_bars",
]
