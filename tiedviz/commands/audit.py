"""`audit MODEL …`: is the matrix shared? The verdict with its evidence, as on the page Is it tied?

Exit status: 0 all is well, 1 something should be done about it, 2 it could not be decided; of
several models the highest. One that cannot be read at all gets one line on standard error, and the
others are still heard.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from tiedviz.commands.options import finish, print_record, progress_shown
from tiedviz.verdict.audit import Audit, audit
from tiedviz.verdict.record import audit_record
from tiedviz.words.numbers import count, exact_size, percent, plural
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.file import printable

if TYPE_CHECKING:
    from tiedviz.verdict.decide import Costs


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("audit", help="is the matrix shared? a verdict with evidence")
    parser.add_argument(
        "models",
        metavar="MODEL",
        nargs="+",
        help="a shelf name, a model folder, a weights file, or a Hub id",
    )
    parser.add_argument(
        "--no-load", action="store_true", help="hear the files only; the model is not opened"
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="fetch and compare two copies on the Hub too (reads both matrices, keeps nothing)",
    )
    finish(parser, run)


def run(options: argparse.Namespace) -> int:
    """Hear each model and print its verdict. Returns the exit status."""
    if len(options.models) == 1:
        return _audit(options.models[0], options)
    return max(_audit_one_of_several(model, options) for model in options.models)


def _audit_one_of_several(model: str, options: argparse.Namespace) -> int:
    try:
        return _audit(model, options)
    except Refusal as refusal:
        print(f"tiedviz: {' '.join(str(refusal).split())}", file=sys.stderr)
        return 2


def _audit(model: str, options: argparse.Namespace) -> int:
    with progress_shown() as progress:
        found = audit(model, load=not options.no_load, report=progress, fetch=options.compare)
    print_record(audit_record(found), options, lambda _: _print_lines(found))
    if found.verdict.word == "cannot_tell":
        return 2
    return 1 if found.verdict.is_wrong else 0


def _print_lines(found: Audit) -> None:
    verdict, costs = found.verdict, found.verdict.costs
    print(f"{printable(found.model)}: {verdict.word.replace('_', ' ').upper()}. {verdict.summary}")
    for row in verdict.evidence:
        print(f"  {row.witness:<9} {row.state:<14} {row.text}")
    print(f"  {plural(costs.total, 'parameter')}, {costs.origin}{_share_words(costs)}")
    for cause in verdict.causes[1:]:
        print(f"  or: {cause}")
    for line in verdict.other_loaders:
        print(f"  elsewhere: {line}")
    for line in found.notes:
        print(f"  note: {line}")
    print(f"  {verdict.advice}")


def _share_words(costs: Costs) -> str:
    if costs.share is None:
        return ""
    text = f"; {percent(costs.share)} of them in E{' and W' if costs.head else ''}"
    if costs.saved_by_tying:
        size = exact_size(2 * costs.saved_by_tying)
        text += f"; tying saves {count(costs.saved_by_tying)}, {size} in bf16"
    return text
