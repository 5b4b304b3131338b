"""Where Python looks for modules, kept still while threads import."""

from __future__ import annotations

import sys
from pathlib import Path


def keep_on_search_path(folder: Path) -> None:
    """Put `folder` last on `sys.path`, for good.

    Streamlit puts the folder of the main script first for the time of each run and takes it off
    again, unless it is there already. Taken off while another thread (an opening, which imports
    torch) walks along the list, everything moves up by one and that thread steps over an entry:
    a library that is installed is "not found".
    """
    if str(folder) not in sys.path[1:]:  # the first may be Streamlit's own, about to go
        sys.path.append(str(folder))
