"""`inspect MODEL --prompt TEXT`: the next token, and the proof, as on the page Next token."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tiedviz.commands.options import (
    add_continue,
    add_model,
    add_prompt,
    add_top,
    finish,
    open_and_encode,
    print_record,
    way_of,
)
from tiedviz.words.numbers import percent, scientific
from tiedviz.words.tokens import visible

if TYPE_CHECKING:
    from tiedviz.compute.continuation import Way
    from tiedviz.models.loaded import LoadedModel
    from tiedviz.models.prompt import Prompt


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("inspect", help="the next token, read off the matrix")
    add_model(parser)
    add_prompt(parser)
    add_top(parser, "how many tokens (10)")
    parser.add_argument(
        "--position",
        type=int,
        metavar="P",
        help="which position; negative counts from the end (default: the last, or the first mask)",
    )
    parser.add_argument(
        "--layer", type=int, default=-1, metavar="K", help="which layer (-1, the last)"
    )
    add_continue(parser)
    finish(parser, run)


def run(options: argparse.Namespace) -> int:
    """Open the model, read the prompt, print. Returns the exit status."""
    from tiedviz.compute.next_token.candidates import inspection
    from tiedviz.compute.next_token.state import score_state

    way = way_of(options)
    loaded, prompt = open_and_encode(options)
    reading = score_state(
        loaded,
        prompt.ids,
        position=prompt.place if options.position is None else options.position,
        layer=options.layer,
        decoder_ids=prompt.decoder_ids,
    )
    record = inspection(loaded, prompt, reading, top=options.top)
    if options.most:
        record["continuation"] = _continuation(loaded, prompt, way, options.most)
    return print_record(record, options, _print_table)


def _continuation(loaded: LoadedModel, prompt: Prompt, way: Way, most: int) -> dict[str, Any]:
    from tiedviz.compute.continuation import Continuation, continuation_record, continued

    tokens = continued(loaded, prompt.ids, decoder_ids=prompt.decoder_ids, way=way, most=most)
    return continuation_record(loaded, Continuation(tuple(tokens)), way)


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
    for token in record.get("continuation", {}).get("tokens", []):
        print(
            f"  → {token['id']:>7}  {percent(token['probability']):>8}  "
            f"{visible(token['text'].encode())}"
        )
