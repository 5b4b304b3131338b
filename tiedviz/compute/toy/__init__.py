"""A language model's two ends, small enough to check by hand. Needs no torch."""

from tiedviz.compute.toy.cells import LARGEST, read_cells
from tiedviz.compute.toy.file import read_toy
from tiedviz.compute.toy.lookup import neighbours, one_hot, zero_share
from tiedviz.compute.toy.scores import TOY_E, TOY_H, TOY_W, TOY_WORDS, toy_scores
from tiedviz.compute.toy.toy import Toy
from tiedviz.compute.toy.words import byte_ids, word_ids
from tiedviz.compute.toy_training import (
    LearningStep,
    Tables,
    Weights,
    drift,
    learn,
    tables_of,
    what_moved,
)

__all__ = [
    "LARGEST",
    "TOY_E",
    "TOY_H",
    "TOY_W",
    "TOY_WORDS",
    "LearningStep",
    "Tables",
    "Toy",
    "Weights",
    "byte_ids",
    "drift",
    "learn",
    "neighbours",
    "one_hot",
    "read_cells",
    "read_toy",
    "tables_of",
    "toy_scores",
    "what_moved",
    "word_ids",
    "zero_share",
]
