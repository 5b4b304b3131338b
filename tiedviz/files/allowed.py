"""Which folders of this machine may be read for the people who use the app.

Whoever runs the app names them in `TIEDVIZ_ALLOW_PATHS`, separated as in PATH. Without it, every
path may be read by the command line and by an app that only this machine can reach, and none by an
app that others can reach. Shelf models and the Hub's cache need no mention.
"""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "TIEDVIZ_ALLOW_PATHS"


def allow_none_unless_named() -> None:
    """From now on no path may be read but in the folders that `TIEDVIZ_ALLOW_PATHS` names."""
    os.environ.setdefault(VARIABLE, "")


def may_read(path: Path) -> bool:
    """Whether `path` lies in a folder that may be read, links followed. It need not exist."""
    named = os.environ.get(VARIABLE)
    if named is None:
        return True
    try:
        real = path.expanduser().resolve()
        folders = [Path(each).expanduser().resolve() for each in named.split(os.pathsep) if each]
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name no system can have
        return False
    return any(real.is_relative_to(folder) for folder in folders)
