"""`share [MODEL]`: what the vocabulary costs, of the catalogue or of any config.json."""

from __future__ import annotations

import argparse
from typing import Any

from tiedviz.commands.options import finish, print_record
from tiedviz.words.catalogue import PARTS, CatalogueRow, catalogue
from tiedviz.words.numbers import count, megabytes, percent, short_count


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("share", help="what the vocabulary costs; no weights are read")
    parser.add_argument(
        "model", metavar="MODEL", nargs="?",
        help="a Hub id, a shelf name, a model folder or a config.json; without it, all models of "
        "the catalogue",
    )  # fmt: skip
    finish(parser, run)


def run(options: argparse.Namespace) -> int:
    """Print one model or all of them. Returns the exit status."""
    if options.model is not None:
        return print_record(_one(options.model), options, _print_one)
    return print_record({"models": [row.record() for row in catalogue()]}, options, _print_all)


def _one(model: str) -> dict[str, Any]:
    from tiedviz.compute.counts import count_record, counts_in_row
    from tiedviz.compute.counts.configs import config_of

    found = config_of(model)
    if isinstance(found, CatalogueRow):
        named = {"repo_id": found.repo_id, "family": found.family}
        return named | count_record(counts_in_row(found), "catalogue")
    from tiedviz.compute.counts.count import count_config

    counts = count_config(found, model)
    family = str(found.get("model_type") or "")
    return {"repo_id": model, "family": family} | count_record(counts, "meta")


def _print_all(record: dict[str, Any]) -> None:
    for row in record["models"]:
        tied, parameters = "tied" if row["tied"] else "untied", row["parameters"]
        print(
            f"{row['repo_id']:45} {tied:7} {count(parameters['total']):>17} "
            f"{percent(parameters['share']):>7}"
        )


def _print_one(record: dict[str, Any]) -> None:
    parameters = record["parameters"]
    tables = "one table" if record["tied"] else "two tables" if parameters["head"] else "E alone"
    print(
        f"{record['repo_id']}: {percent(parameters['share'])} of {count(parameters['total'])} "
        f"parameters is {tables} (V = {count(record['V'])}, d = {count(record['d'])})"
    )
    for part, numbers in parameters["parts"].items():
        fraction = percent(numbers / parameters["total"])
        print(f"  {PARTS[part]:20} {count(numbers):>17}  {fraction:>7}")
    if record["tied"]:
        print(f"  with two tables it would hold {count(parameters['if_untied'])}")
    elif parameters["if_tied"] < parameters["total"]:
        print(f"  with one table it would hold {count(parameters['if_tied'])}")
    operations = short_count(record["product_operations_per_token"])
    print(f"  output product: 2·V·d = {operations} operations a token, tied or not")
    print(
        "  " + " · ".join(f"{dtype} {megabytes(size)}" for dtype, size in record["bytes"].items())
    )
