"""How many parameters does a model have, in which parts, and what does sharing a table save?

What a counted model holds (`Counts`) and plain arithmetic on a vocabulary (`VocabularyCost`). The
counting itself, of an architecture without a single weight (torch's meta device), is in `count`;
this module imports no torch: the table of known models and the bounds need none.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from tiedviz.words.catalogue import CatalogueRow, PartCounts

BYTES = {"float32": 4.0, "bfloat16": 2.0, "int8": 1.0, "4-bit": 0.5}
"""Bytes of one number; 4-bit without the scales that each method adds."""

PER_LAYER = 12
"""A plain transformer layer holds about 12·d² numbers: 4·d² in attention, 8·d² in its MLP."""


@dataclass(frozen=True)
class VocabularyCost:
    """A model of L plain layers over a table of V rows and width d.

    Attributes:
        V, d, layers: its sizes.
        bytes_each: bytes of one number.
        table: numbers in E, and in a second matrix; also what tying saves.
        table_bytes: bytes of one table.
        layer: numbers in one layer, 12·d².
        tied, untied: parameters with one table, and with two.
        share_tied, share_untied: the part of each that is table; untied, both of them.
        saving: the part of the untied model that tying saves, 1 / (2 + 12·L·d/V); less as L·d
            grows.
        extra_layers: how many layers the saved numbers would buy: V / (12·d).
        product_operations: multiplications and additions of the output product for a token: 2·V·d,
            tied or not.
    """

    V: int
    d: int
    layers: int
    bytes_each: float
    table: int
    table_bytes: float
    layer: int
    tied: int
    untied: int
    share_tied: float
    share_untied: float
    saving: float
    extra_layers: float
    product_operations: int


def vocabulary_cost(V: int, d: int, layers: int, dtype: str = "float32") -> VocabularyCost:
    """The cost of a vocabulary.

    Args:
        V: rows of E, at least 1.
        d: width of E, at least 1.
        layers: number of layers, 0 for the tables alone.
        dtype: a key of `BYTES`.

    Raises:
        ValueError: a size is below that.
    """
    if V < 1 or d < 1 or layers < 0:
        raise ValueError(f"sizes must be positive: V={V}, d={d}, layers={layers}")
    table, layer = V * d, PER_LAYER * d**2
    tied = table + layers * layer
    untied = tied + table
    return VocabularyCost(
        V=V,
        d=d,
        layers=layers,
        bytes_each=BYTES[dtype],
        table=table,
        table_bytes=table * BYTES[dtype],
        layer=layer,
        tied=tied,
        untied=untied,
        share_tied=table / tied,
        share_untied=2 * table / untied,
        saving=table / untied,
        extra_layers=table / layer,
        product_operations=2 * table,
    )


@dataclass(frozen=True)
class Counts:
    """What a model holds.

    Attributes:
        architecture: the name of its class.
        kind: causal, seq2seq, masked, speech or other.
        V, d: rows and width of E.
        layers: block calls on the way to the output matrix; None where the class does not say.
        head_shape: (rows, width) of the matrix that scores; None where there is none.
        tied: whether that matrix is E.
        parts: numbers in each part; `parts.total` are the parameters, each stored number once.
        listed: numbers in `state_dict()`, where a tied matrix stands under both its names, and
            buffers count.
        used: numbers used in one forward pass: a tied table once for reading and once for scoring,
            a shared block at every call, of experts only those a token is sent to.
    """

    architecture: str
    kind: str
    V: int
    d: int
    layers: int | None
    head_shape: tuple[int, int] | None
    tied: bool
    parts: PartCounts
    listed: int
    used: int

    @property
    def total(self) -> int:
        """Parameters, each stored number once."""
        return self.parts.total

    @property
    def can_tie(self) -> bool:
        """Whether one matrix could do both jobs."""
        return self.head_shape == (self.V, self.d)

    @property
    def if_tied(self) -> int:
        """Parameters with one matrix for both jobs."""
        return self.total - (self.parts.head if self.can_tie else 0)

    @property
    def if_untied(self) -> int:
        """Parameters with two matrices."""
        return self.total + (self.V * self.d if self.tied else 0)

    @property
    def product_operations(self) -> int:
        """Multiplications and additions of the output product for one token: 2·V·d, tied or not."""
        return 0 if self.head_shape is None else 2 * self.head_shape[0] * self.head_shape[1]


def counts_in_row(row: CatalogueRow) -> Counts:
    """The counts that the catalogue holds; they were made by the same code."""
    named = row.config.get("architectures") or [row.config["model_type"]]
    return Counts(
        architecture=str(named[0]),
        kind=row.kind,
        V=row.V,
        d=row.d,
        layers=row.layers,
        head_shape=(row.V, row.d),
        tied=row.tied,
        parts=row.parts,
        listed=row.listed,
        used=row.used,
    )


def memory(numbers: int) -> dict[str, int]:
    """Bytes of so many weights: float32, bfloat16, int8, 4-bit (without a method's scales)."""
    return {dtype: math.ceil(numbers * size) for dtype, size in BYTES.items()}


def count_record(counts: Counts, counted_from: str) -> dict[str, Any]:
    """The counts as the command line prints them: `tied`, `parameters`, `operations`, `bytes`."""
    return {
        "tied": counts.tied,
        "parameters": {
            "total": counts.total,
            "counted_from": counted_from,
            "embedding": counts.parts.embedding,
            "head": counts.parts.head,
            "share": counts.parts.share,
            "embedding_share": counts.parts.embedding_share,
            "saved_by_tying": counts.if_untied - counts.total,
            "added_by_untying": counts.if_untied - counts.total,
            "if_tied": counts.if_tied,
            "if_untied": counts.if_untied,
            "parts": asdict(counts.parts),
            "listed_in_state_dict": counts.listed,
            "used_per_forward_pass": counts.used,
        },
        "V": counts.V,
        "d": counts.d,
        "layers": counts.layers,
        "architecture": counts.architecture,
        "product_operations_per_token": counts.product_operations,
        "bytes": memory(counts.total),
    }
