"""What is known of a model before it is opened, and what opening it will take. Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tiedviz.files.facts import ModelFacts, read_facts
from tiedviz.models.cache import shelf_file
from tiedviz.models.conversion import converted_folder
from tiedviz.models.hub import cached_snapshot
from tiedviz.models.sources import FolderSource, GgufSource, HubSource, ShelfSource, Source
from tiedviz.words.numbers import megabytes, unpacked_words
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


def files_here(source: Source) -> Path | None:
    """The folder or file on this machine that `source` would be opened from, if it is there yet."""
    if isinstance(source, ShelfSource):
        return _shelf_files(source)
    if isinstance(source, HubSource):
        return cached_snapshot(source.repo, source.revision)
    return source.path


def known_facts(source: Source, remote: RemoteModel | None = None) -> KnownFacts | None:
    """The facts of a model that need no loading; None where nobody has said anything yet.

    Args:
        source: the model.
        remote: what the Hub answered about it, where it did.

    Raises:
        Refusal: its files cannot be read.
    """
    if here := files_here(source):
        return _of(read_facts(here), "read from the file's header")
    if isinstance(source, ShelfSource):
        return _published(source.model)
    if remote is None or remote.facts is None:
        return None
    return _of(remote.facts, "read from the headers on the Hub; nothing is downloaded yet")


def _shelf_files(source: ShelfSource) -> Path | None:
    file = shelf_file(source.model)
    for found in (converted_folder(file, source.model.sha256), file):
        if found.exists():
            return found
    return None


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


# What loading converted weights and a tokenizer takes on two ordinary cores, seconds for each GB.
_SECONDS_PER_GB = 4.0
_CONVERSION_SECONDS_PER_GB = 80.0


@dataclass(frozen=True)
class Cost:
    """What opening a model takes from here on.

    Attributes:
        download: bytes still to come over the network.
        disk: bytes still to be written into the cache.
        memory: bytes of weights once open.
        seconds: a rough time without the download.
    """

    download: int
    disk: int
    memory: int
    seconds: float

    @property
    def words(self) -> str:
        """As on the Open button: "93 MB download, 538 MB memory, about 30 s once"."""
        parts = [f"{megabytes(self.download)} download"] if self.download else []
        parts.append(f"{megabytes(self.memory)} memory")
        seconds = f"about {max(1, round(self.seconds))} s"
        parts.append(f"{seconds} once" if self.disk else seconds)
        return ", ".join(parts)


def cost_of(source: Source, remote: RemoteModel | None = None) -> Cost | None:
    """What opening `source` will take, given what already lies in the cache.

    Args:
        source: the model.
        remote: what the Hub answered about it; without it the cost of a repository that is not
            in the cache is unknown, and the answer is None.
    """
    if isinstance(source, HubSource):
        return _hub_cost(source, remote)
    if isinstance(source, FolderSource):
        return _cost(0, read_facts(source.path).float32_bytes, converted=True)
    if isinstance(source, GgufSource):
        memory = read_facts(source.path).float32_bytes
        return _cost(0, memory, converted=converted_folder(source.path).is_dir())
    return _shelf_cost(source)


def _hub_cost(source: HubSource, remote: RemoteModel | None) -> Cost | None:
    if here := files_here(source):
        return _cost(0, read_facts(here).float32_bytes, converted=True)
    if remote is None:
        return None
    from tiedviz.models.hub_download import memory_needed

    memory = memory_needed(remote.listing, remote.facts)
    loading = _cost(remote.download_size, memory, converted=True)
    return Cost(loading.download, remote.download_size, memory, loading.seconds)


def _shelf_cost(source: ShelfSource) -> Cost:
    model, file = source.model, shelf_file(source.model)
    if converted_folder(file, model.sha256).is_dir():
        return _cost(0, model.float32_size, converted=True)
    download = 0 if file.is_file() else model.download_size
    loading = _cost(download, model.float32_size, converted=True)
    return Cost(
        download,
        model.float32_size + (0 if file.is_file() else model.file_size),
        loading.memory,
        loading.seconds + model.conversion_seconds,
    )


def _cost(download: int, memory: int, *, converted: bool) -> Cost:
    seconds = 3 + memory / 1e9 * _SECONDS_PER_GB  # three for importing the libraries
    if not converted:
        seconds += memory / 1e9 * _CONVERSION_SECONDS_PER_GB
    return Cost(download, 0 if converted else memory, memory, seconds)
