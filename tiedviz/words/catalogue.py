"""What 233 released models hold: facts from their config.json, counts by `tiedviz.compute.counts`.

The file beside this module has one model a line. Its facts (config, flag, sources) were gathered by
hand; `python -m tiedviz.compute.counts.regenerate` computes the counts from them again. `PARTS` are
the seven parts that parameters are counted in, and what they are called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from os.path import commonprefix
from pathlib import Path
from typing import Any

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


FILE = Path(__file__).with_name("catalogue.jsonl")
KINDS = {
    "causal": "causal (writes left to right)",
    "seq2seq": "encoder-decoder",
    "masked": "masked (fills gaps)",
    "speech": "speech to text",
}


@dataclass(frozen=True)
class CatalogueRow:
    """One released model.

    Attributes:
        repo_id: its id on the Hub; the only name that is unique.
        family, year, kind: to sort by; `kind` is a key of `KINDS`.
        tied: whether the checkpoint's output matrix is E.
        tied_from: where that was read.
        checkpoint_untied: the released checkpoint has a head of its own although the library ties
            every model it builds of this class (T5 v1.1, Flan-T5, mT5, ByT5).
        V, d: rows and width of E.
        layers: block calls on the way to the output matrix.
        parts: the counts; `parts.total` counts each stored number once.
        listed: numbers in `state_dict()`, where a tied matrix stands under both its names.
        used: numbers used in a forward pass (`tiedviz.compute.counts.Counts.used`).
        file_numbers: numbers stored in the published file, where known; buffers and copies count.
        published: the published number of parameters, where known, and `published_from` where.
        published_difference: published − counted, where they differ, and `published_why` why.
        source: where the configuration was read, and how sure that is (`confidence`).
        note: what else one should know.
        expected: counts that others arrived at; the tests compare.
        config: the keys of config.json that shape the model.
    """

    repo_id: str
    family: str
    year: int
    kind: str
    tied: bool
    tied_from: str
    checkpoint_untied: bool
    V: int
    d: int
    layers: int
    parts: PartCounts
    listed: int
    used: int
    file_numbers: int | None
    published: int | None
    published_from: str
    published_difference: int
    published_why: str
    source: str
    confidence: str
    note: str
    expected: Mapping[str, int]
    config: Mapping[str, Any]

    @property
    def total(self) -> int:
        """All parameters, each stored number once."""
        return self.parts.total

    def record(self) -> dict[str, Any]:
        """What a program is told of it: repo_id, family, tied, parameters."""
        return {
            "repo_id": self.repo_id,
            "family": self.family,
            "tied": self.tied,
            "parameters": {
                "total": self.total,
                "embedding": self.parts.embedding,
                "head": self.parts.head,
                "share": self.parts.share,
                "parts": asdict(self.parts),
            },
        }

    @property
    def name(self) -> str:
        """The id without its owner, for labels; not unique in principle."""
        return self.repo_id.rpartition("/")[2]


@lru_cache(maxsize=1)
def catalogue() -> tuple[CatalogueRow, ...]:
    """All rows, in the order of the file."""
    lines = FILE.read_text("utf-8").splitlines()
    return tuple(read_row(json.loads(line)) for line in lines)


def read_row(record: dict[str, Any]) -> CatalogueRow:
    """A row from one line of the file."""
    return CatalogueRow(**{**record, "parts": PartCounts(**record["parts"])})


def find_row(repo_id: str) -> CatalogueRow | None:
    """The row of a Hub id, or None; upper and lower case are ignored, as the Hub does.

    The oldest models go by their name alone as well: gpt2, t5-small.
    """
    wanted = repo_id.lower()
    rows = [row for row in catalogue() if wanted in (row.repo_id.lower(), row.name.lower())]
    return rows[0] if len(rows) == 1 else None


def row_of_shape(V: int, d: int, layers: int, parameters: int, like: str) -> CatalogueRow | None:
    """The row with exactly these sizes whose id begins most like `like`, or None."""
    shape = (V, d, layers, parameters)
    fitting = [row for row in catalogue() if (row.V, row.d, row.layers, row.total) == shape]
    alike = {row.repo_id: len(commonprefix((row.repo_id, like))) for row in fitting}  # noqa: RUF071
    return max(fitting, key=lambda row: alike[row.repo_id], default=None)
