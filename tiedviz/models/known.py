"""What is known of a model before it is opened, from its files or as published. Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tiedviz.files.facts import ModelFacts, read_facts
from tiedviz.models.sources import ShelfSource, Source
from tiedviz.words.numbers import unpacked_words
from tiedviz.words.shelf import ShelfModel

if TYPE_CHECKING:
    from tiedviz.models.hub import RemoteModel


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


def known_facts(source: Source, remote: RemoteModel | None = None) -> KnownFacts | None:
    """The facts of a model that need no loading; None where nobody has said anything yet.

    Args:
        source: the model.
        remote: what the Hub answered about it, where it did.

    Raises:
        Refusal: its files cannot be read.
    """
    if here := source.files_here():
        return _of(read_facts(here), "read from the file's header")
    if isinstance(source, ShelfSource):
        return _published(source.model)
    if remote is None or remote.facts is None:
        return None
    return _of(remote.facts, "read from the headers on the Hub; nothing is downloaded yet")


def _of(facts: ModelFacts, origin: str) -> KnownFacts:
    return KnownFacts(
        V=facts.V,
        d=facts.d,
        layers=facts.layers,
        parameters=facts.parameters,
        share=_share(facts),
        origin=origin + unpacked_words(facts.unpacked_bytes, facts.uncounted),
        stores_one_table=facts.head is None or facts.head_shares_storage,
    )


def _share(facts: ModelFacts) -> float | None:
    if facts.embedding is None or not facts.parameters:
        return None
    stored = [facts.embedding, None if facts.head_shares_storage else facts.head]
    tables = [tensor for tensor in stored if tensor is not None]
    return sum(map(facts.numbers, tables)) / facts.parameters


def _published(model: ShelfModel) -> KnownFacts:
    share = model.V * model.d / model.parameters
    origin = "published numbers, not yet read from a file"
    return KnownFacts(model.V, model.d, model.layers, model.parameters, share, origin)
