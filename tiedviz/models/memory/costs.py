"""What opening a model will take, from what is known before anything is loaded. Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tiedviz.files.facts import read_facts
from tiedviz.models.cache.convert import converted_folder
from tiedviz.models.cache.folder import shelf_file
from tiedviz.models.known import files_here
from tiedviz.models.sources import FolderSource, GgufSource, HubSource, ShelfSource, Source
from tiedviz.words.numbers import megabytes

if TYPE_CHECKING:
    from tiedviz.models.hub.known import RemoteModel

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
    from tiedviz.models.hub.opening import memory_needed

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
