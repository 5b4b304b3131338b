"""Which folders of this machine may be read for the people who use the app.

Whoever runs the app names them in `TIEDVIZ_ALLOW_PATHS`, separated as in PATH. Without it, every
path may be read by the command line and by an app that only this machine can reach, and none by an
app that others can reach. Shelf models and the Hub's cache need no mention. A link that a visitor
names is followed first; what links inside a named folder lead to is their owner's choice (the Hub's
cache is made of such links).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tiedviz.files.opening import StrPath

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "TIEDVIZ_ALLOW_PATHS"


def allow_none_unless_named() -> None:
    """From now on no path may be read but in the folders that `TIEDVIZ_ALLOW_PATHS` names."""
    os.environ.setdefault(VARIABLE, "")


def allowed_folders() -> list[Path]:
    """The folders that `TIEDVIZ_ALLOW_PATHS` names, as it names them."""
    from pathlib import Path

    return [Path(each) for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]


def may_read(path: StrPath) -> bool:
    """Whether `path` lies in a folder that may be read, links followed. It need not exist."""
    if VARIABLE not in os.environ:
        return True
    from pathlib import Path

    try:
        real = Path(path).expanduser().resolve()
        folders = [each.expanduser().resolve() for each in allowed_folders()]
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name no system can have
        return False
    return any(real.is_relative_to(folder) for folder in folders)


def readable_path(text: str) -> str | None:
    """The path that `text` names, if something lies there and may be read."""
    path = named_path(text)
    return path if path and may_read(path) and os.path.exists(path) else None


def named_path(text: str) -> str:
    """The path that `text` names, white space around it dropped and `~` the home folder.

    A `~` before a name that no user has stays as it is: nothing lies there.
    """
    path = os.path.expanduser(text.strip())
    return path.rstrip(os.sep) or path
