"""`inspect MODEL --prompt TEXT`: the next token, and the proof, as on the page Next token."""

from __future__ import annotations

import argparse
from typing import Any

from tiedviz.commands.options import Progress, add_json, add_model, at_least_one, print_json
from tiedviz.words.numbers import percent, scientific
from tiedviz.words.tokens import visible


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("inspect", help="the next token, read off the matrix")
    add_model(parser)
    parser.add_argument("--prompt", required=True, help="the text to read")
    parser.add_argument(
        "--decoder", default="", metavar="TEXT",
        help="for encoder-decoder models: what the decoder has written so far",
    )  # fmt: skip
    parser.add_argument(
        "--top", type=at_least_one, default=10, metavar="K", help="how many tokens (10)"
    )
    parser.add_argument(
        "--position",
        type=int,
        metavar="P",
        help="which position; negative counts from the end (default: the last, or the first mask)",
    )
    parser.add_argument(
        "--layer", type=int, default=-1, metavar="K", help="which layer (-1, the last)"
    )
    parser.add_argument(
        "--bos", choices=("default", "add", "omit"), default="default",
        help="the mark at the beginning: as the tokenizer does, always, never",
    )  # fmt: skip
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Open the model, read the prompt, print. Returns the exit status."""
    from tiedviz.compute.inspection import inspection
    from tiedviz.compute.reading import read
    from tiedviz.models.loading import load
    from tiedviz.models.prompt import Bos, encode

    progress = Progress()
    loaded = load(options.model, report=progress)
    progress.done()
    prompt = encode(loaded, options.prompt, Bos(options.bos), options.decoder)
    reading = read(
        loaded,
        prompt.ids,
        position=prompt.place if options.position is None else options.position,
        layer=options.layer,
        decoder_ids=prompt.decoder_ids,
    )
    record = inspection(loaded, prompt, reading, top=options.top)
    if options.json:
        print_json(record)
    else:
        _print_table(record)
    return 0


def _print_table(record: dict[str, Any]) -> None:
    h = record["h"]
    print(f"{record['formula']}   layer {h['layer']}, position {h['position']}")
    print(
        f"max |Δ| = {scientific(record['max_abs_error'])}, limit "
        f"{scientific(record['tolerance'])}, {record['dtype']}"
    )
    for note in record["notes"]:
        print(f"note: {note}")
    for row in record["top"]:
        print(
            f"{row['rank']:>3}  {row['id']:>7}  {row['logit']:>9.4f}  "
            f"{percent(row['probability']):>8}  {visible(row['text'].encode())}"
        )
