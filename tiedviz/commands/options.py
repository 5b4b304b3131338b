"""Arguments and progress that several commands share."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from tiedviz.models.progress import Step
from tiedviz.words.numbers import megabytes

MODEL_HELP = "a shelf name (smollm2, gemma-3-270m), a Hub id, a model folder, or a .gguf file"


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the argument MODEL."""
    parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option --json."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def at_least_one(text: str) -> int:
    """A count from the command line: a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1")
    return number


def print_json(record: dict[str, Any]) -> None:
    """One JSON object on standard output, UTF-8, whatever the terminal's encoding is."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


class Progress:
    """Steps on standard error: one line that is rewritten on a terminal, one a stage elsewhere."""

    def __init__(self) -> None:
        self._stage = ""
        self._live = sys.stderr.isatty()

    def __call__(self, step: Step) -> None:
        """Show one step."""
        if self._live:
            sys.stderr.write(f"\r\033[K{_words(step)}")
        elif step.stage != self._stage:
            sys.stderr.write(f"{_words(step)}\n")
        self._stage = step.stage
        sys.stderr.flush()

    def done(self) -> None:
        """Leave the terminal's line clean."""
        if self._live and self._stage:
            sys.stderr.write("\r\033[K")


def _words(step: Step) -> str:
    if step.total is None:
        return f"{step.stage} …"
    if step.unit == "bytes":
        return f"{step.stage}, {megabytes(step.done)} of {megabytes(step.total)}"
    return f"{step.stage}, {step.done} of {step.total} {step.unit}"
