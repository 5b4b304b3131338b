"""What is known of a model before it is opened, from its files or as published. No torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tiedviz.files.facts import ModelFacts, read_facts
from tiedviz.models.convert import converted_folder
from tiedviz.models.shelf import shelf_file
from tiedviz.models.sources import ShelfSource, Source
from tiedviz.words.shelf import ShelfModel


@dataclass(frozen=True)
class KnownFacts:
    """A model's shape, and where the numbers come from.

    Attributes:
        V, d, layers, parameters: as in the glossary; None where nothing says.
        share: (E + W where it is stored apart) / parameters, or None.
        origin: what was read, as a clause for a caption.
        stores_one_table: whether E is stored and no matrix of its own for the output.
    """

    V: int | None
    d: int | None
    layers: int | None
    parameters: int
    share: float | None
    origin: str
    stores_one_table: bool = True


def known_facts(source: Source) -> KnownFacts:
    """The facts of a model that need no loading.

    Raises:
        Refusal: its files cannot be read.
    """
    if not isinstance(source, ShelfSource):
        return _from_files(source.path)
    file = shelf_file(source.model)
    for found in (converted_folder(file, source.model.sha256), file):
        if found.exists():
            return _from_files(found)
    return _published(source.model)


def _from_files(path: Path) -> KnownFacts:
    facts = read_facts(path)
    return KnownFacts(
        V=facts.V,
        d=facts.d,
        layers=facts.layers,
        parameters=facts.parameters,
        share=_share(facts),
        origin="read from the file's header",
        stores_one_table=facts.head is None,
    )


def _share(facts: ModelFacts) -> float | None:
    if facts.embedding is None or not facts.parameters:
        return None
    tables = [tensor.shape for tensor in (facts.embedding, facts.head) if tensor is not None]
    return sum(rows * width for rows, width in tables) / facts.parameters


def _published(model: ShelfModel) -> KnownFacts:
    share = model.V * model.d / model.parameters
    origin = "published numbers, not yet read from a file"
    return KnownFacts(model.V, model.d, model.layers, model.parameters, share, origin)
