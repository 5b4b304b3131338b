"""A model's verdict and parameters, from an answer, from its headers, or as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tiedviz.models.known import KnownFacts
from tiedviz.words.catalogue import CatalogueRow
from tiedviz.words.numbers import short_count

if TYPE_CHECKING:
    from tiedviz.compute.compare.answer import Answer


@dataclass(frozen=True)
class Facts:
    """What a column shows above its tokens.

    Attributes:
        verdict: one word or a few.
        rows, width, layers: V, d, L; L is None where nothing says.
        parts: numbers of E, of W where it is another matrix, and of the rest.
        origin: where they were read.
    """

    verdict: str
    rows: int
    width: int
    layers: int | None
    parts: dict[str, int]
    origin: str

    @property
    def shape(self) -> str:
        """V, d and L in one line."""
        layers = "" if self.layers is None else f" · L {self.layers}"
        return f"V {self.rows:,} · d {self.width:,}{layers}"

    @property
    def tied(self) -> bool:
        """Whether one table does both jobs."""
        return "W" not in self.parts

    @property
    def total(self) -> int:
        """All parameters, each once."""
        return sum(self.parts.values())

    @property
    def rest(self) -> int:
        """What lies in neither table."""
        return self.parts["blocks and the rest"]

    @property
    def share(self) -> float:
        """The part in E, and in W where it is another matrix."""
        return (self.total - self.rest) / self.total if self.total else 0.0


def facts_of_answer(answer: Answer) -> Facts:
    """All four witnesses heard."""
    verdict = answer.audit.verdict
    costs = verdict.costs
    parts = _parts(costs.embedding, costs.head, costs.total)
    word = verdict.word.replace("_", " ").capitalize()
    return Facts(
        word, *answer.shape, answer.layers, parts, f"counted in memory, {answer.record['dtype']}"
    )


def facts_of_source(found: KnownFacts) -> Facts | None:
    """From the file's headers, or what a shelf model's publisher states; None where E is not."""
    if found.V is None or found.d is None:
        return None
    table = found.V * found.d
    head = 0 if found.stores_one_table else table
    word = "One table" if found.stores_one_table else "Two tables"
    return Facts(
        word,
        found.V,
        found.d,
        found.layers,
        _parts(table, head, found.parameters),
        found.origin,
    )


def facts_of_row(row: CatalogueRow) -> Facts:
    """As published."""
    return Facts(
        "Tied" if row.tied else "Untied",
        row.V,
        row.d,
        row.layers,
        _parts(row.parts.embedding, row.parts.head, row.total),
        "published config, not read from a file",
    )


def _parts(embedding: int, head: int, total: int) -> dict[str, int]:
    tables = {"E": embedding, "W": head} if head else {"E, tied": embedding}
    return tables | {"blocks and the rest": max(0, total - embedding - head)}


def pair_in_words(one: Facts, other: Facts) -> str:
    """How two models differ in their tables, as a sentence; empty where there is little to say."""
    if one.tied and other.tied:
        return "Both are tied: one table each."
    if not one.tied and not other.tied:
        return "Both are untied: two tables each."
    tied, untied = (one, other) if one.tied else (other, one)
    extra = f"the untied one holds {short_count(untied.parts['W'])} parameters more for its W"
    if tied.width == untied.width and tied.layers == untied.layers:
        apart = "one table apart" if _alike(tied.rest, untied.rest) else "not only a table apart"
        return f"Same d and L, {apart}: {extra}."
    return f"One is tied, one is not: {extra}."


def _alike(one: int, other: int) -> bool:
    """Whether two bodies are of one size, but for positions and norms."""
    return abs(one - other) <= 0.02 * max(one, other)
