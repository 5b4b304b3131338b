"""What does a vocabulary cost, and what does sharing its table save? Plain arithmetic, no torch."""

from __future__ import annotations

from dataclasses import dataclass

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
    """

    V: int
    d: int
    layers: int
    bytes_each: float

    @property
    def table(self) -> int:
        """Numbers in E, and in a second matrix; also what tying saves."""
        return self.V * self.d

    @property
    def table_bytes(self) -> float:
        """Bytes of one table."""
        return self.table * self.bytes_each

    @property
    def layer(self) -> int:
        """Numbers in one layer, 12·d²."""
        return PER_LAYER * self.d**2

    @property
    def tied(self) -> int:
        """Parameters with one table."""
        return self.table + self.layers * self.layer

    @property
    def untied(self) -> int:
        """Parameters with two."""
        return self.tied + self.table

    @property
    def share_tied(self) -> float:
        """Part of the tied model that is table."""
        return self.table / self.tied

    @property
    def share_untied(self) -> float:
        """Part of the untied model that is table, both of them."""
        return 2 * self.table / self.untied

    @property
    def saving(self) -> float:
        """Part of the untied model that tying saves: 1 / (2 + 12·L·d/V), less as L·d grows."""
        return self.table / self.untied

    @property
    def extra_layers(self) -> float:
        """How many layers the saved numbers would buy: V / (12·d)."""
        return self.table / self.layer

    @property
    def product_operations(self) -> int:
        """Multiplications and additions of the output product for a token: 2·V·d, tied or not."""
        return 2 * self.table


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
    return VocabularyCost(V, d, layers, BYTES[dtype])
