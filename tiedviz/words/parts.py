"""The seven parts that a model's parameters are counted in, and what they are called."""

from __future__ import annotations

from dataclasses import asdict, dataclass

PARTS = {
    "embedding": "embedding E",
    "head": "separate head W",
    "positions": "positions and types",
    "attention": "attention",
    "feed_forward": "feed-forward",
    "norms": "norms",
    "other": "other",
}
"""Field of `PartCounts` → what a page calls it, in the order in which bars are stacked."""

PARTS_HELP = {
    "embedding": "the table that is read by rows, V × d; where tied it scores as well",
    "head": "the matrix that scores, where it is another one; 0 where tied",
    "positions": "tables for positions, relative positions and token types",
    "attention": "whatever mixes positions: attention, or a state-space or recurrent mixer",
    "feed_forward": "what works on each position alone: MLPs, experts and their routers",
    "norms": "scales and shifts of the normalisations",
    "other": "projections beside the tables, biases of the head, further tables",
}


@dataclass(frozen=True)
class PartCounts:
    """How many numbers lie in each part; each stored number is counted once."""

    embedding: int
    head: int
    positions: int
    attention: int
    feed_forward: int
    norms: int
    other: int

    @property
    def total(self) -> int:
        """All parameters."""
        return sum(asdict(self).values())

    @property
    def share(self) -> float:
        """(E + W where it is a separate matrix) / all parameters."""
        return (self.embedding + self.head) / self.total

    @property
    def embedding_share(self) -> float:
        """E alone / all parameters."""
        return self.embedding / self.total
