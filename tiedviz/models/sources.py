"""What a person may type to name a model, and which kind of thing it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tiedviz.files.access import may_read
from tiedviz.words.refusals.opening import NoSuchModel, NoSuchPath, OneFileOfMany, PathNotAllowed
from tiedviz.words.shelf import SHELF, ShelfModel
from tiedviz.words.tokens import shorten


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


def _on_disk(text: str, path: Path) -> Source | None:
    """The folder or file at `path`, or None where nothing is there.

    A folder that holds one `.gguf` file and no config.json is that file. Any other file stands for
    its folder, if it is the one that the folder would be opened from.
    """
    if path.is_file():
        if path.suffix == ".gguf":
            return GgufSource(text, path)
        if path.name in _MAIN_FILES:
            return FolderSource(text, path.parent)
        raise OneFileOfMany(path.name, sorted(_MAIN_FILES))
    if not path.is_dir():
        return None
    alone = [] if (path / "config.json").exists() else sorted(path.glob("*.gguf"))
    return GgufSource(text, alone[0]) if len(alone) == 1 else FolderSource(text, path)


# What transformers opens a folder from, and what leads to it.
_MAIN_FILES = (
    "config.json",
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)

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
        NoSuchPath: it looks like a path and nothing is there.
        PathNotAllowed: it looks like a path that may not be read, whether or not it is there.
        NoSuchModel: it is nothing this app knows.
    """
    text = text.strip()
    if shelf := SHELF.get(text.lower()):
        return ShelfSource(text.lower(), shelf)
    allowed = may_read(Path(text))
    try:
        if text and allowed and (found := _on_disk(text, Path(text).expanduser())) is not None:
            return found
    except (OSError, RuntimeError, ValueError):  # no home of that name, a name no system can have
        raise NoSuchPath(shorten(text, 200)) from None
    name = text.partition("@")[0]  # a revision may hold slashes
    if re.match(r"[~./\\]|[A-Za-z]:\\", text) or text.endswith(".gguf") or name.count("/") > 1:
        shown = shorten(text, 200)
        raise NoSuchPath(shown) if allowed else PathNotAllowed(shown)
    if len(text) <= _LONGEST and (hub := _HUB_ID.fullmatch(text)):
        return HubSource(text, hub["repo"], hub["revision"])
    raise NoSuchModel(shorten(text, 200), sorted(SHELF))
