"""The command line: which commands there are, and how they end.

Exit status: 0 done; 1 done, and something is wrong with the model; 2 could not be done, with one
line on standard error that says what, why and what to try. With `--json` standard output holds one
JSON object and nothing else.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from tiedviz import __version__
from tiedviz.words.refusals import Refusal

# Modules of this package; only the one that was asked for is imported, since a verdict from headers
# takes less time than importing the others.
_COMMANDS = (
    "app",
    "audit",
    "compare",
    "fetch",
    "gradients",
    "inspect",
    "lens",
    "map",
    "neighbors",
    "share",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    asked = [name for name in _COMMANDS if name in words[:1]]
    chosen = _parser(asked or _COMMANDS).parse_args(words)
    if not getattr(chosen, "no_load", False):
        _quieten()
    try:
        return int(chosen.run(chosen))
    except Refusal as refusal:
        print(f"tiedviz: {' '.join(str(refusal).split())}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        return _not_installed(chosen, words[0], error)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _not_installed(chosen: argparse.Namespace, command: str, error: ModuleNotFoundError) -> int:
    """One line where the light install lacks what the command needs, and status 2."""
    missing = (error.name or "").partition(".")[0]
    if missing in ("", "tiedviz"):
        raise error  # a slip of ours
    remedy = "Install everything with: pip install 'tiedviz[app]'"
    if getattr(chosen, "no_load", None) is False:
        remedy += "; the files alone are audited without it: --no-load"
    why = f"{command} cannot do this here: {missing} is not installed"
    print(f"tiedviz: {why}. {remedy}.", file=sys.stderr)
    return 2


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tiedviz",
        description="Is a language model's embedding matrix shared, and what does it do?",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in names:
        importlib.import_module(f"tiedviz.commands.{name}").add_to(commands)
    return parser


def _quieten() -> None:
    """Keep the libraries' own bars and advice away from both streams."""
    import logging

    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    logging.getLogger().setLevel(logging.ERROR)
