"""What lies in this folder, and is it a model at all?"""

from __future__ import annotations

import os

from tiedviz.files.json_text import read_object
from tiedviz.files.opening import StrPath, name_of
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


def list_names(folder: StrPath) -> tuple[str, ...]:
    """Names of what lies directly in the folder, sorted; links that lead nowhere included.

    Raises:
        NothingThere: there is no such folder.
        CannotOpen: it is a file, or may not be read.
    """
    try:
        return tuple(sorted(os.listdir(folder)[:MAX_NAMES]))
    except FileNotFoundError:
        raise NothingThere(os.fspath(folder)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "this is no path"
        raise CannotOpen(os.fspath(folder), reason) from error


def adapter_base(folder: StrPath) -> str | None:
    """The model that the adapter in this folder was trained on, if the folder says."""
    try:
        base = read_object(os.path.join(folder, ADAPTER_CONFIG), CONFIG_LIMIT).get(
            "base_model_name_or_path"
        )
    except FileRefusal:
        return None
    return base if isinstance(base, str) and base else None


def refuse_not_a_model(folder: StrPath, names: tuple[str, ...]) -> None:
    """Raise what a folder without weights or without config.json is instead, if it is known."""
    if ADAPTER_CONFIG in names:
        raise AdapterOnly(name_of(folder), adapter_base(folder))
    if CONFIG not in names:
        raise NotAModelFolder(name_of(folder), names)
