"""`gradients MODEL --text TEXT`: how the table learns twice, as on the page Gradients."""

from __future__ import annotations

import argparse
from typing import Any

from tiedviz.commands.options import (
    add_bos,
    add_model,
    add_top,
    finish,
    open_model,
    print_record,
    progress_shown,
)
from tiedviz.words.numbers import count, percent, plural, scientific
from tiedviz.words.tokens import shorten, visible


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("gradients", help="the gradient of E, input and output side")
    add_model(parser)
    parser.add_argument("--text", required=True, help="the text whose loss is taken")
    parser.add_argument(
        "--target", default="", metavar="TEXT",
        help="for encoder-decoder models: what the decoder is asked for (default: the text itself)",
    )  # fmt: skip
    add_bos(parser)
    add_top(
        parser, "how many of the rows with the longest output side to list besides those read (10)"
    )
    finish(parser, run)


def run(options: argparse.Namespace) -> int:
    """Open the model, split the gradient, print. Returns the exit status."""
    from tiedviz.compute.gradient_task import sentence_of
    from tiedviz.compute.gradients import gradient_record, gradient_split
    from tiedviz.models.prompt import Bos

    loaded = open_model(options.model)
    sentence = sentence_of(loaded, options.text, Bos(options.bos), options.target)
    with progress_shown() as progress:
        split = gradient_split(loaded, sentence, report=progress)
    record = gradient_record(loaded, sentence, split, largest=options.top)
    return print_record(record, options, _print_table)


def _print_table(record: dict[str, Any]) -> None:
    print(f"L = {record['loss']:.4f} nats, mean of {plural(record['positions'], 'position')}")
    print(record["task"])
    if record["later_tokens_move"]:
        print(
            "note: the model also reads the tokens after a position (another last one moves "
            f"earlier logits by up to {record['later_tokens_move']:.3g}): no next-token loss"
        )
    for note in record["notes"]:
        print(f"note: {note}")
    for side in ("input", "output"):
        rows = f"{count(record[side]['rows_touched'])} rows touched"
        print(f"{side:<7} norm {record[side]['norm']:.6g}, {rows}")
    if record["cosine"] is None:
        print("two matrices: the two sides never meet")
    else:
        print(f"cosine {record['cosine']:.3f}, norm of the sum {record['sum_norm']:.6g}")
    print(f"output share {percent(record['output_share'])}")
    print(
        f"max |Δ| to autograd = {scientific(record['max_abs_difference'])}, limit "
        f"{scientific(record['tolerance'])}, {record['dtype']}"
    )
    print(
        f"{'id':>8}  {'token':<16} {'read':>4} {'asked':>5}  {'input':>10} {'output':>10}  cosine"
    )
    for row in record["rows"]:
        word = shorten(visible(row["text"].encode()) or "∅", 16)
        output = "–" if row["output_norm"] is None else f"{row['output_norm']:.4g}"
        cosine = "–" if row["cosine"] is None else f"{row['cosine']:+.3f}"
        print(
            f"{row['id']:>8}  {word:<16} {row['read']:>4} {row['asked']:>5}  "
            f"{row['input_norm']:>10.4g} {output:>10}  {cosine}"
        )
