"""The two witnesses that need no loading, from a path: the verdict of a page's first paint."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tiedviz.files.access import StrPath, folder_of, is_file
from tiedviz.files.config import CONFIG, read_config
from tiedviz.verdict.declared import declared_in, inferred
from tiedviz.verdict.stored import from_header, stored_in
from tiedviz.verdict.witnesses import Declared, Stored

if TYPE_CHECKING:
    from tiedviz.files.header import Header
    from tiedviz.verdict.copies.place import Progress


def hear_files(
    path: StrPath, *, progress: Progress | None = None, most: int | None = None
) -> tuple[Declared, Stored]:
    """What a model folder or a single weights file declares and stores.

    Args:
        path: the folder, or a `.gguf`, `.safetensors` or `.bin` file; a config.json beside a
            file counts.
        progress: told of the bytes compared, where two copies are stored.
        most: compare two copies only if that reads no more bytes than this.

    Raises:
        FileRefusal: the files cannot be read.
    """
    folder = folder_of(path)
    config = read_config(folder) if is_file(os.path.join(folder, CONFIG)) else {}
    stored = stored_in(path, config, progress=progress, most=most)
    return declare(config, stored), stored


def declare(config: dict[str, object], stored: Stored) -> Declared:
    """The declared witness; of a GGUF file it follows from what is stored."""
    if stored.format == "gguf":
        return inferred(stored.head is not None)
    return declared_in(config)


def hear_header(header: Header, config: dict[str, object]) -> tuple[Declared, Stored]:
    """What config.json declares and the headers alone store, as of a repository on the Hub."""
    stored = from_header(header, config)
    return declare(config, stored), stored
