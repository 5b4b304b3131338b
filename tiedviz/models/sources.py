"""What a person may type to name a model, and which kind of thing it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tiedviz.words.opening_refusals import NoSuchModel, NoSuchPath
from tiedviz.words.shelf import SHELF, ShelfModel


@dataclass(frozen=True)
class ShelfSource:
    """A model that travels in wheels."""

    text: str
    model: ShelfModel

    @property
    def title(self) -> str:
        """What it is called on a page."""
        return self.model.title


@dataclass(frozen=True)
class FolderSource:
    """A folder in the layout of transformers."""

    text: str
    path: Path

    @property
    def title(self) -> str:
        """What it is called on a page."""
        return self.path.resolve().name


@dataclass(frozen=True)
class GgufSource:
    """One `.gguf` file."""

    text: str
    path: Path

    @property
    def title(self) -> str:
        """What it is called on a page."""
        return self.path.stem


@dataclass(frozen=True)
class HubSource:
    """A repository on the Hub, at a revision."""

    text: str
    repo: str
    revision: str | None

    @property
    def title(self) -> str:
        """What it is called on a page."""
        return self.text


Source = ShelfSource | FolderSource | GgufSource | HubSource

_HUB_ID = re.compile(r"(?P<repo>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[\w./-]+))?", re.ASCII)


def find_source(text: str) -> Source:
    """What `text` names, without opening it.

    Surrounding white space is dropped and `~` is the home folder.

    Raises:
        NoSuchPath: it looks like a path and nothing is there.
        NoSuchModel: it is nothing this app knows.
    """
    text = text.strip()
    if shelf := SHELF.get(text.lower()):
        return ShelfSource(text.lower(), shelf)
    path = Path(text).expanduser()
    if text and path.is_dir():
        return FolderSource(text, path)
    if text and path.is_file():
        return GgufSource(text, path) if path.suffix == ".gguf" else FolderSource(text, path.parent)
    name = text.partition("@")[0]  # a revision may hold slashes
    if re.match(r"[~./\\]|[A-Za-z]:\\", text) or text.endswith(".gguf") or name.count("/") > 1:
        raise NoSuchPath(text)
    if hub := _HUB_ID.fullmatch(text):
        return HubSource(text, hub["repo"], hub["revision"])
    raise NoSuchModel(text, sorted(SHELF))
