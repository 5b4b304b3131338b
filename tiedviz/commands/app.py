"""`app [-- OPTION …]`: start the dashboard; what follows `--` goes to streamlit."""

from __future__ import annotations

import argparse
import importlib.util
import runpy
import sys
from pathlib import Path
from typing import Any

import tiedviz


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("app", help="start the dashboard")
    parser.add_argument(
        "options", metavar="OPTION", nargs="*",
        help="after --: for streamlit, as -- --server.port 8600",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Become `streamlit run` on the entry point, which ends the process with its own status.

    Raises:
        ModuleNotFoundError: streamlit is not installed.
    """
    if importlib.util.find_spec("streamlit") is None:
        raise ModuleNotFoundError("No module named 'streamlit'", name="streamlit")
    sys.argv = ["streamlit", "run", str(_entry()), *options.options]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return 0


def _entry() -> Path:
    """app.py: inside the package where tiedviz is installed, beside it in a checkout."""
    package = Path(tiedviz.__file__).parent
    places = (package / "dashboard" / "app.py", package.parent / "app.py")
    return next(path for path in places if path.is_file())
