"""`lens MODEL --prompt TEXT`: what every layer would say, as on the page Layers."""

from __future__ import annotations

import argparse
from typing import Any

from tiedviz.commands.options import (
    add_model,
    add_prompt,
    add_top,
    finish,
    open_and_encode,
    print_record,
)
from tiedviz.words.numbers import percent, scientific
from tiedviz.words.tokens import shorten, visible

_COLUMN = 14


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("lens", help="what every layer would say")
    add_model(parser)
    add_prompt(parser)
    add_top(parser, "how many tokens at each place (10)")
    parser.add_argument(
        "--watch", nargs="+", default=[], metavar="TOKEN",
        help="tokens to follow through the layers, as text (a leading space counts) or id:123",
    )  # fmt: skip
    finish(parser, run)


def run(options: argparse.Namespace) -> int:
    """Open the model, read every layer, print. Returns the exit status."""
    from tiedviz.compute.lens import lens
    from tiedviz.compute.lens_tables import lens_record
    from tiedviz.models.prompt import one_token

    loaded, prompt = open_and_encode(options)
    found = lens(
        loaded,
        prompt.ids,
        decoder_ids=prompt.decoder_ids,
        watched=[one_token(loaded, text).id for text in options.watch],
        top=options.top,
    )
    record = lens_record(loaded, prompt, found)
    return print_record(record, options, _print_table)


def _print_table(record: dict[str, Any]) -> None:
    """The first token of each layer and position, the last layer on top."""
    print(record["formula"])
    print(
        f"max |Δ| = {scientific(record['max_abs_error'])}, limit "
        f"{scientific(record['tolerance'])}, {record['dtype']}"
    )
    for note in record["notes"]:
        print(f"note: {note}")
    for layer in reversed(record["layers"]):
        places = [_word(place["top"][0]["text"]) for place in layer["positions"]]
        print(f"{layer['layer']:>4}  {' '.join(places).rstrip()}")
    read = record["decoder_tokens"] or record["tokens"]
    print(f"read  {' '.join(_word(token['text']) for token in read).rstrip()}")
    for layer in reversed(record["layers"]):
        for token in layer["positions"][-1].get("watched", []):
            print(
                f"{layer['layer']:>4}  {_word(token['text'])} rank {token['rank']:>7,}  "
                f"logit {token['logit']:>9.4f}  {percent(token['probability']):>8}"
            )


def _word(text: str) -> str:
    return f"{shorten(visible(text.encode()) or '∅', _COLUMN):<{_COLUMN}}"
