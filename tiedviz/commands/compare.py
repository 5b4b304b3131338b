"""`compare A B [C D] --prompt TEXT`: how far models agree, as on the page Compare.

The models are opened one after another, never two at a time. Exit status: 0 done, 1 something is
wrong with one of them, 2 one could not be opened or asked; the others are compared all the same.
"""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from tiedviz.commands.options import (
    MODEL_HELP,
    add_bos,
    add_top,
    at_least_one,
    finish,
    open_model,
    print_record,
)
from tiedviz.words.numbers import count, percent
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.prompt import PromptRefusal
from tiedviz.words.tokens import readable, visible

if TYPE_CHECKING:
    from tiedviz.compute.compare.answer import Answer
    from tiedviz.compute.compare.geometry import Geometry
    from tiedviz.compute.compare.shared_tokens import Texts
    from tiedviz.compute.continuation import Continuation

_MOST = 4


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("compare", help="two to four models on one prompt")
    parser.add_argument("models", metavar="MODEL", nargs="+", help=f"two to four: {MODEL_HELP}")
    parser.add_argument("--prompt", required=True, help="the text to read; [MASK] is a gap")
    parser.add_argument(
        "--decoder", default="", metavar="TEXT",
        help="what encoder–decoder models have written so far; the others do not read it",
    )  # fmt: skip
    add_bos(parser)
    add_top(parser, "how many texts (10)")
    parser.add_argument(
        "--continue", dest="most", type=at_least_one, default=12, metavar="N",
        help="greedily write N tokens and see where the models part (12)",
    )  # fmt: skip
    parser.add_argument(
        "--geometry",
        action="store_true",
        help="measure the tables too; opens each model a second time",
    )
    finish(parser, run)


class _Asked(NamedTuple):
    """All that is kept of one model."""

    answer: Answer
    texts: Texts
    written: Continuation | None
    record: dict[str, Any]


def run(options: argparse.Namespace) -> int:
    """Ask each model, compare each two, print. Returns the exit status."""
    if not 2 <= len(options.models) <= _MOST:
        raise PromptRefusal.not_two_to_four(len(options.models))
    asked: list[_Asked | None] = []
    records: list[dict[str, Any]] = []
    for name in options.models:
        try:
            found = _ask(name, options)
        except Refusal as refusal:
            print(f"tiedviz: {' '.join(str(refusal).split())}", file=sys.stderr)
            said = {"what": refusal.what, "why": refusal.why, "try": refusal.remedy}
            records.append({"model": name, "refusal": said})
            asked.append(None)
        else:
            records.append(found.record)
            asked.append(found)
    done = [each for each in asked if each is not None]
    record: dict[str, Any] = {"models": records, "agreement": _agreements(done, options.top)}
    if options.geometry and len(done) > 1:
        record["geometry"] = _geometry(done)
    print_record(record, options, _print_table)
    if len(done) < len(asked):
        return 2
    return 1 if any(each.answer.audit.verdict.is_wrong for each in done) else 0


def _ask(name: str, options: argparse.Namespace) -> _Asked:
    """The answer of one model, which is gone when this returns."""
    from tiedviz.compute.compare.answer import answer
    from tiedviz.compute.compare.shared_tokens import token_texts
    from tiedviz.compute.continuation import GREEDY, Continuation, continuation_record, continued

    loaded = open_model(name)
    found = answer(
        loaded, options.prompt, bos=options.bos, decoder=options.decoder, top=options.top
    )
    texts = token_texts(loaded.vocabulary, found.shape[0])
    written, record = None, dict(found.record)
    if loaded.kind != "masked":
        tokens = continued(
            loaded, found.prompt.ids, decoder_ids=found.prompt.decoder_ids, most=options.most
        )
        written = Continuation(tuple(tokens))
        record["continuation"] = continuation_record(loaded, written, GREEDY)
    return _Asked(found, texts, written, record)


def _agreements(done: list[_Asked], top: int) -> list[dict[str, Any]]:
    from tiedviz.compute.compare.agreement import WrittenText, agreement, agreement_record
    from tiedviz.compute.compare.shared_tokens import shared_tokens

    records = []
    for one, other in combinations(done, 2):
        texts = [
            None
            if each.written is None
            else WrittenText(
                tuple(each.texts[id] or b"" for id in each.written.text_ids), each.written.ended
            )
            for each in (one, other)
        ]
        found = agreement(
            [one.answer.probabilities, other.answer.probabilities],
            shared_tokens([one.texts, other.texts]),
            [one.texts, other.texts],
            texts,
            top=top,
        )
        records.append(agreement_record(found, (one.answer.source, other.answer.source)))
    return records


def _geometry(done: list[_Asked]) -> dict[str, Any]:
    """Each table measured over the tokens that all share, one model in memory at a time."""
    from tiedviz.compute.compare.geometry import geometry_record, neighbours_shared, overlap_record
    from tiedviz.compute.compare.shared_tokens import shared_tokens

    shared = shared_tokens([each.texts for each in done])
    if len(shared.texts) < 12:
        return {"tables": [], "overlaps": [], "shared_tokens": len(shared.texts)}
    found = [_measure(each.answer.source, shared.rows(at)) for at, each in enumerate(done)]
    overlaps = [
        overlap_record(
            neighbours_shared(found[i], found[j]), (done[i].answer.source, done[j].answer.source)
        )
        for i, j in combinations(range(len(done)), 2)
    ]
    tables = [
        {"model": each.answer.source} | geometry_record(table)
        for each, table in zip(done, found, strict=True)
    ]
    return {"tables": tables, "overlaps": overlaps, "shared_tokens": len(shared.texts)}


def _measure(name: str, rows: Any) -> Geometry:
    from tiedviz.compute.compare.geometry import geometry

    return geometry(open_model(name).embedding, rows)


def _print_table(record: dict[str, Any]) -> None:
    for model in record["models"]:
        if "refusal" in model:
            print(f"{model['model']}: {model['refusal']['what']}")
            continue
        numbers = model["parameters"]
        print(
            f"{model['model']}: {model['verdict'].replace('_', ' ')}, "
            f"{count(numbers['total'])} parameters, {model['formula']}"
        )
        for note in model["notes"]:
            print(f"  note: {note}")
        for row in model["top"][:5]:
            print(f"  {percent(row['probability']):>8}  {visible(row['text'].encode())}")
        if written := model.get("continuation"):
            print(f"  writes: {readable(written['text'].encode())}")
    for pair in record["agreement"]:
        bits = pair["js_divergence_bits"]
        shown = "no common ground" if bits is None else f"JS divergence {bits:.4f} bits"
        left = " and ".join(percent(max(0.0, each)) for each in pair["mass_left_out"])
        print(
            f"{' | '.join(pair['models'])}: {len(pair['top_in_both'])} of {pair['top']} likeliest, "
            f"{shown} over {count(pair['shared_tokens'])} shared tokens, left out {left}"
        )
        if greedy := pair["greedy"]:
            where = "part" if greedy["differ"] else "do not part"
            print(f"  both begin “{readable(greedy['common'].encode())}” and {where}")
    for pair in record.get("geometry", {}).get("overlaps", []):
        print(
            f"{' | '.join(pair['models'])}: {percent(pair['neighbours_shared'])} of the nearest "
            f"neighbours shared, ± {percent(pair['margin'])}"
        )
