"""`fetch NAME`: bring a shelf model into the cache, ready to be opened."""

from __future__ import annotations

import argparse
from typing import Any

from tiedviz.commands.options import finish, print_record, progress_shown
from tiedviz.models.sources import ShelfSource
from tiedviz.words.numbers import megabytes
from tiedviz.words.shelf import SHELF


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("fetch", help="bring a shelf model into the cache")
    parser.add_argument("name", choices=sorted(SHELF), help="which one")
    finish(parser, run)


def run(options: argparse.Namespace) -> int:
    """Fetch, check, convert. Returns the exit status."""
    from tiedviz.models.cache import shelf_file

    model = SHELF[options.name]
    with progress_shown() as progress:
        folder = ShelfSource(model.name, model).folder(progress)
    record = {
        "model": model.name,
        "file": str(shelf_file(model)),
        "sha256": model.sha256,
        "folder": str(folder),
        "licence": model.licence,
    }
    return print_record(record, options, _print_lines)


def _print_lines(record: dict[str, Any]) -> None:
    model = SHELF[record["model"]]
    print(f"{model.title} ({model.licence}) is ready.")
    print(f"{megabytes(model.file_size)}  {record['file']}")
    print(f"{megabytes(model.float32_size)}  {record['folder']}")
