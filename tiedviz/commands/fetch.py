"""`fetch NAME`: bring a shelf model into the cache, ready to be opened."""

from __future__ import annotations

import argparse
from typing import Any

from tiedviz.commands.options import Progress, add_json, print_json
from tiedviz.models.sources import ShelfSource
from tiedviz.words.numbers import megabytes
from tiedviz.words.shelf import SHELF


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("fetch", help="bring a shelf model into the cache")
    parser.add_argument("name", choices=sorted(SHELF), help="which one")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Fetch, check, convert. Returns the exit status."""
    from tiedviz.models.cache import shelf_file
    from tiedviz.models.loading import model_folder

    model = SHELF[options.name]
    progress = Progress()
    folder = model_folder(ShelfSource(model.name, model), progress)
    progress.done()
    file = shelf_file(model)
    if options.json:
        print_json(
            {
                "model": model.name,
                "file": str(file),
                "sha256": model.sha256,
                "folder": str(folder),
                "licence": model.licence,
            }
        )
    else:
        print(f"{model.title} ({model.licence}) is ready.")
        print(f"{megabytes(model.file_size)}  {file}")
        print(f"{megabytes(model.float32_size)}  {folder}")
    return 0
