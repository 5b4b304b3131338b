"""The command line: which commands there are, and how they end.

Exit status: 0 done; 1 done, and something is wrong with the model; 2 could not be done, with one
line on standard error that says what, why and what to try. With `--json` standard output holds one
JSON object and nothing else.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from tiedviz import __version__
from tiedviz.commands import fetch, inspect
from tiedviz.words.refusals import Refusal

_COMMANDS = (fetch, inspect)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit status."""
    chosen = _parser().parse_args(arguments)
    _quieten()
    try:
        return int(chosen.run(chosen))
    except Refusal as refusal:
        print(f"tiedviz: {' '.join(str(refusal).split())}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tiedviz",
        description="Is a language model's embedding matrix shared, and what does it do?",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add_to(commands)
    return parser


def _quieten() -> None:
    """Keep the libraries' own bars and advice away from both streams."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    logging.getLogger().setLevel(logging.ERROR)
