"""The pieces of the page Gradients, in the order in which they stand on it."""

from tiedviz.ui.gradients.answer import headline, proof, two_bars
from tiedviz.ui.gradients.rows import positions, rows
from tiedviz.ui.gradients.run import results, run
from tiedviz.ui.gradients.share import share_and_export
from tiedviz.ui.gradients.task import task

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
