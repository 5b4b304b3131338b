"""What a person may type to name a model, where that model lies, and what opening it takes."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tiedviz.files.access import may_read
from tiedviz.files.config import CONFIG
from tiedviz.files.facts import read_facts
from tiedviz.files.formats import ALONE, IN_FOLDERS
from tiedviz.models.cache import shelf_file
from tiedviz.models.conversion import convert, converted_folder
from tiedviz.models.hub import cached_snapshot
from tiedviz.models.progress import Report, silent
from tiedviz.models.wheels import fetch
from tiedviz.words.numbers import megabytes
from tiedviz.words.refusals.opening import OpeningRefusal
from tiedviz.words.shelf import SHELF, ShelfModel
from tiedviz.words.tokens import shorten

if TYPE_CHECKING:
    from tiedviz.models.hub import RemoteModel


# What loading converted weights and a tokenizer takes on two ordinary cores, seconds for each GB.
_SECONDS_PER_GB = 4.0
_CONVERSION_SECONDS_PER_GB = 80.0


@dataclass(frozen=True)
class Cost:
    """What opening a model takes from here on.

    Attributes:
        memory: bytes of weights once open.
        download: bytes still to come over the network.
        disk: bytes still to be written into the cache.
        converting: a rough time for turning its file into what opens quickly, where that is to do.
    """

    memory: int
    download: int = 0
    disk: int = 0
    converting: float = 0.0

    @property
    def seconds(self) -> float:
        """A rough time without the download; three of them for importing the libraries."""
        return 3 + self.memory / 1e9 * _SECONDS_PER_GB + self.converting

    @property
    def words(self) -> str:
        """As on the Open button: "93 MB download, 538 MB memory, about 30 s once"."""
        parts = [f"{megabytes(self.download)} download"] if self.download else []
        parts.append(f"{megabytes(self.memory)} memory")
        seconds = f"about {max(1, round(self.seconds))} s"
        parts.append(f"{seconds} once" if self.disk else seconds)
        return ", ".join(parts)


@dataclass(frozen=True)
class ModelSource(ABC):
    """What a text names: a model, somewhere. Each kind of place answers the same questions.

    Attributes:
        text: what was typed.
    """

    text: str

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is called on a page."""

    @abstractmethod
    def files_here(self) -> Path | None:
        """The folder or file on this machine that it would be opened from, if it is there yet."""

    @abstractmethod
    def cost(self, remote: RemoteModel | None = None) -> Cost | None:
        """What opening it will take, given what already lies in the cache; None where unknown.

        Args:
            remote: what the Hub answered about it, where it did.
        """

    @abstractmethod
    def folder(self, report: Report = silent) -> Path:
        """The folder to open it from: fetched and converted first where that is needed."""


@dataclass(frozen=True)
class ShelfSource(ModelSource):
    """A model that travels in wheels."""

    model: ShelfModel

    @property
    def title(self) -> str:
        """Its title on the shelf."""
        return self.model.title

    @property
    def _converted(self) -> Path:
        return converted_folder(shelf_file(self.model), self.model.sha256)

    def files_here(self) -> Path | None:
        """Its converted folder, or the file as it was published."""
        places = (self._converted, shelf_file(self.model))
        return next((place for place in places if place.exists()), None)

    def cost(self, remote: RemoteModel | None = None) -> Cost:
        """Known from what its publisher states."""
        model = self.model
        if self._converted.is_dir():
            return Cost(model.float32_size)
        if shelf_file(model).is_file():
            return Cost(model.float32_size, 0, model.float32_size, model.conversion_seconds)
        disk = model.float32_size + model.file_size
        return Cost(model.float32_size, model.download_size, disk, model.conversion_seconds)

    def folder(self, report: Report = silent) -> Path:
        """Its converted folder; the published file may be gone since it was made."""
        if self._converted.is_dir():
            return self._converted
        return convert(
            fetch(self.model, report),
            title=self.title,
            weights=self.model.float32_size,
            memory=self.model.conversion_memory,
            identity=self.model.sha256,
            report=report,
        )


@dataclass(frozen=True)
class FolderSource(ModelSource):
    """A folder in the layout of transformers."""

    path: Path

    @property
    def title(self) -> str:
        """The folder's name."""
        return self.path.resolve().name

    def files_here(self) -> Path:
        """The folder."""
        return self.path

    def cost(self, remote: RemoteModel | None = None) -> Cost:
        """The memory for its weights."""
        return Cost(read_facts(self.path).float32_bytes)

    def folder(self, report: Report = silent) -> Path:
        """The folder, as it is."""
        return self.path


@dataclass(frozen=True)
class FileSource(ModelSource):
    """One file of a format that is turned into a folder once, before it is opened."""

    path: Path

    @property
    def title(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    def files_here(self) -> Path:
        """The file."""
        return self.path

    def cost(self, remote: RemoteModel | None = None) -> Cost:
        """The memory for its weights, and as much disk where it was not converted yet."""
        memory = read_facts(self.path).float32_bytes
        if converted_folder(self.path).is_dir():
            return Cost(memory)
        return Cost(memory, disk=memory, converting=memory / 1e9 * _CONVERSION_SECONDS_PER_GB)

    def folder(self, report: Report = silent) -> Path:
        """The folder that it was, or is now, turned into."""
        size = read_facts(self.path).parameters * 4
        return convert(
            self.path,
            title=self.title,
            weights=size,
            memory=3 * size,  # measured on the shelf's two: 2.2 and 3.1 times the float32 weights
            identity=None,
            report=report,
        )


@dataclass(frozen=True)
class HubSource(ModelSource):
    """A repository on the Hub, at a revision."""

    repo: str
    revision: str | None

    @property
    def title(self) -> str:
        """What was typed: its id."""
        return self.text

    def files_here(self) -> Path | None:
        """A complete copy in the Hub's cache."""
        return cached_snapshot(self.repo, self.revision)

    def cost(self, remote: RemoteModel | None = None) -> Cost | None:
        """Unknown until the Hub has answered, unless a copy is in the cache."""
        if here := self.files_here():
            return Cost(read_facts(here).float32_bytes)
        if remote is None:
            return None
        return Cost(remote.memory, remote.download_size, remote.download_size)

    def folder(self, report: Report = silent) -> Path:
        """Its files in the Hub's cache, downloaded where they are not there yet."""
        from tiedviz.models.hub_download import repository_folder  # the Hub's client takes its time

        return repository_folder(self.repo, self.revision, report)


Source = ShelfSource | FolderSource | FileSource | HubSource


def _on_disk(text: str, path: Path) -> Source | None:
    """The folder or file at `path`, or None where nothing is there.

    A folder that holds one file of a format that stands alone, and no config.json, is that file.
    Any other file stands for its folder, if it is the one that the folder would be opened from.
    """
    if path.is_file():
        if path.suffix in ALONE:
            return FileSource(text, path)
        if path.name in _MAIN_FILES:
            return FolderSource(text, path.parent)
        raise OpeningRefusal.one_file_of_many(path.name, sorted(_MAIN_FILES))
    if not path.is_dir():
        return None
    if not (path / CONFIG).exists():
        alone = [each for ending in ALONE for each in path.glob(f"*{ending}")]
        if len(alone) == 1:
            return FileSource(text, alone[0])
    return FolderSource(text, path)


# What transformers opens a folder from, and what leads to it.
_MAIN_FILES = (CONFIG, *(name for each in IN_FOLDERS for name in (each.in_folder, each.index)))

# As the Hub names repositories: up to 96 characters a part, beginning and ending in a word
# character, neither -- nor .. inside. What it would never have is not asked for.
_PART = r"\w(?:[\w.-]{0,94}\w)?"
_HUB_ID = re.compile(
    rf"(?!.*(?:--|\.\.))(?P<repo>(?:{_PART}/)?{_PART})(?<!\.git)"
    r"(?:@(?P<revision>\w[\w-]*(?:[./]\w[\w-]*)*))?",
    re.ASCII,
)
_LONGEST = 400  # characters of a Hub id with its revision; no file system takes more in one name


def find_source(text: str) -> Source:
    """What `text` names, without opening it.

    Surrounding white space is dropped and `~` is the home folder.

    Raises:
        OpeningRefusal: it looks like a path and nothing is there.
        OpeningRefusal: it looks like a path that may not be read, whether or not it is there.
        OpeningRefusal: it is nothing this app knows.
    """
    text = text.strip()
    if shelf := SHELF.get(text.lower()):
        return ShelfSource(text.lower(), shelf)
    allowed = may_read(Path(text))
    try:
        if text and allowed and (found := _on_disk(text, Path(text).expanduser())) is not None:
            return found
    except (OSError, RuntimeError, ValueError):  # no home of that name, a name no system can have
        raise OpeningRefusal.no_such_path(shorten(text, 200)) from None
    name = text.partition("@")[0]  # a revision may hold slashes
    if re.match(r"[~./\\]|[A-Za-z]:\\", text) or text.endswith(ALONE) or name.count("/") > 1:
        shown = shorten(text, 200)
        raise (
            OpeningRefusal.no_such_path(shown)
            if allowed
            else OpeningRefusal.path_not_allowed(shown)
        )
    if len(text) <= _LONGEST and (hub := _HUB_ID.fullmatch(text)):
        return HubSource(text, hub["repo"], hub["revision"])
    raise OpeningRefusal.no_such_model(shorten(text, 200), sorted(SHELF))
