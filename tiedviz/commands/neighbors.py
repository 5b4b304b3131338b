"""`neighbors MODEL TOKEN`: the rows of E nearest to a token's, as on the page Token map."""

from __future__ import annotations

import argparse
from typing import Any

from tiedviz.commands.options import add_model, add_top, finish, open_model, print_record
from tiedviz.words.numbers import count
from tiedviz.words.tokens import shorten, visible


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("neighbors", help="the rows of E nearest to a token's row")
    add_model(parser)
    parser.add_argument(
        "token", metavar="TOKEN", help="the text of one token (a leading space counts), or id:123"
    )
    parser.add_argument(
        "--by",
        choices=("cosine", "dot", "l2"),
        default="cosine",
        help="what near means (cosine); l2 is the distance",
    )
    add_top(parser, "how many (10)")
    finish(parser, run)


def run(options: argparse.Namespace) -> int:
    """Open the model, find the neighbours, print. Returns the exit status."""
    from tiedviz.compute.token_map import Measure, neighbours_of
    from tiedviz.compute.token_map.neighbours import neighbours_record
    from tiedviz.compute.token_map.rows import named_rows
    from tiedviz.models.prompt import one_token

    loaded = open_model(options.model)
    row = one_token(loaded, options.token).id
    rows = named_rows(loaded).rows
    found = neighbours_of(loaded.embedding, rows, row, by=Measure(options.by), top=options.top)
    record = neighbours_record(loaded, row, found, float(rows.norms[row]))
    return print_record(record, options, _print_table)


def _print_table(record: dict[str, Any]) -> None:
    token = record["token"]
    ranks = ", ".join(f"{count(rank)} by {name}" for name, rank in record["self_rank"].items())
    print(f"{_word(token['text'])} id {token['id']}, length {token['norm']:.4f}, own rank {ranks}")
    for each in record["neighbors"]:
        cosine = "     –" if each["cosine"] is None else f"{each['cosine']:>6.3f}"
        print(
            f"{each['rank']:>4}  {_word(each['text']):<24} {each['id']:>7}  cosine {cosine}  "
            f"dot {each['dot']:>9.3f}  distance {each['distance']:>8.3f}"
        )


def _word(text: str) -> str:
    return shorten(visible(text.encode("utf-8", "replace")) or "∅", 24)
