"""Arguments and progress that several commands share."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tiedviz.words.numbers import megabytes
from tiedviz.words.shelf import SHELF

if TYPE_CHECKING:
    from tiedviz.compute.continuation import Way
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.progress import Stage
    from tiedviz.models.prompt import Prompt

MODEL_HELP = f"a shelf name ({', '.join(SHELF)}), a Hub id, a model folder, or a .gguf file"


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the argument MODEL."""
    parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)


def finish(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], int]) -> None:
    """Add the option --json, the last of every command, and say what runs it."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def add_top(parser: argparse.ArgumentParser, help: str) -> None:
    """Add the option --top."""
    parser.add_argument("--top", type=at_least_one, default=10, metavar="K", help=help)


def add_bos(parser: argparse.ArgumentParser) -> None:
    """Add the option --bos."""
    parser.add_argument(
        "--bos", choices=("default", "add", "omit"), default="default",
        help="the mark at the beginning: as the tokenizer does, always, never",
    )  # fmt: skip


def at_least_one(text: str) -> int:
    """A count from the command line: a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1")
    return number


def print_record(
    record: dict[str, Any],
    options: argparse.Namespace,
    print_table: Callable[[dict[str, Any]], None],
) -> int:
    """One JSON object on standard output where --json is given, else a table. Returns 0.

    UTF-8, whatever the terminal's encoding is.
    """
    if not options.json:
        print_table(record)
        return 0
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()
    return 0


class Progress:
    """Steps on standard error: one line that is rewritten on a terminal, one a stage elsewhere."""

    def __init__(self) -> None:
        self._stage = ""
        self._live = sys.stderr.isatty()

    def __call__(self, stage: Stage) -> None:
        """Show one stage."""
        if self._live:
            sys.stderr.write(f"\r\033[K{_words(stage)}")
        elif stage.name != self._stage:
            sys.stderr.write(f"{_words(stage)}\n")
        self._stage = stage.name
        sys.stderr.flush()

    def done(self) -> None:
        """Leave the terminal's line clean."""
        if self._live and self._stage:
            sys.stderr.write("\r\033[K")


@contextmanager
def progress_shown() -> Iterator[Progress]:
    """Steps on standard error while the block runs."""
    progress = Progress()
    yield progress
    progress.done()


def _words(stage: Stage) -> str:
    if stage.total is None:
        return f"{stage.name} …"
    if stage.unit == "bytes":
        return f"{stage.name}, {megabytes(stage.done)} of {megabytes(stage.total)}"
    return f"{stage.name}, {stage.done} of {stage.total} {stage.unit}"


def add_prompt(parser: argparse.ArgumentParser) -> None:
    """Add what names a prompt: --prompt, --decoder, --bos."""
    parser.add_argument("--prompt", required=True, help="the text to read")
    parser.add_argument(
        "--decoder",
        default="",
        metavar="TEXT",
        help="for encoder-decoder models: what the decoder has written so far",
    )
    add_bos(parser)


def open_model(name: str) -> LoadedModel:
    """The model of this name; progress is shown."""
    from tiedviz.models.loading import load

    with progress_shown() as progress:
        return load(name, report=progress)


def open_and_encode(options: argparse.Namespace) -> tuple[LoadedModel, Prompt]:
    """The model and the prompt that `add_model` and `add_prompt` asked for; progress is shown."""
    from tiedviz.models.prompt import Bos, encode

    loaded = open_model(options.model)
    return loaded, encode(loaded, options.prompt, Bos(options.bos), options.decoder)


def add_continue(parser: argparse.ArgumentParser) -> None:
    """Add what continues a prompt: --continue, and --temperature, --top-p, --seed to sample."""
    parser.add_argument(
        "--continue", dest="most", type=at_least_one, metavar="N", help="write N tokens more"
    )
    parser.add_argument(
        "--temperature", type=float, metavar="T", help="sample, with logits divided by T"
    )
    parser.add_argument(
        "--top-p", type=float, metavar="P", help="sample from the likeliest that together reach P"
    )
    parser.add_argument("--seed", type=int, metavar="S", help="sample, with this seed (0)")


def way_of(options: argparse.Namespace) -> Way:
    """Greedy, or sampled where any option of sampling is given.

    Raises:
        ContinuationRefusal: a number that no draw can be made with.
    """
    from tiedviz.compute.continuation import GREEDY, Way

    given = (options.temperature, options.top_p, options.seed)
    if given == (None, None, None):
        return GREEDY
    temperature, top_p = (1.0 if each is None else each for each in given[:2])
    return Way(True, temperature, top_p, options.seed or 0)
