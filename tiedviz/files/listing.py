"""What lies in this folder, and is it a model at all?"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from tiedviz.files.json_text import read_object
from tiedviz.words.refusals.file import (
    AdapterOnly,
    CannotOpen,
    FileRefusal,
    NotAModelFolder,
    NothingThere,
)

CONFIG = "config.json"
ADAPTER_CONFIG = "adapter_config.json"
CONFIG_LIMIT = 10_000_000  # bytes
MAX_NAMES = 20_000


def list_names(folder: Path) -> tuple[str, ...]:
    """Names of what lies directly in the folder, sorted; links that lead nowhere included.

    Raises:
        NothingThere: there is no such folder.
        CannotOpen: it is a file, or may not be read.
    """
    try:
        return tuple(sorted(entry.name for entry in islice(folder.iterdir(), MAX_NAMES)))
    except FileNotFoundError:
        raise NothingThere(str(folder)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "this is no path"
        raise CannotOpen(str(folder), reason) from error


def adapter_base(folder: Path) -> str | None:
    """The model that the adapter in this folder was trained on, if the folder says."""
    try:
        base = read_object(folder / ADAPTER_CONFIG, CONFIG_LIMIT).get("base_model_name_or_path")
    except FileRefusal:
        return None
    return base if isinstance(base, str) and base else None


def refuse_not_a_model(folder: Path, names: tuple[str, ...]) -> None:
    """Raise what a folder without weights or without config.json is instead, if it is known."""
    if ADAPTER_CONFIG in names:
        raise AdapterOnly(folder.name or str(folder), adapter_base(folder))
    if CONFIG not in names:
        raise NotAModelFolder(folder.name or str(folder), names)
