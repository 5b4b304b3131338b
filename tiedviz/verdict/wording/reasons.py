"""Why a verdict cannot be given yet, and what would settle it."""

from collections.abc import Callable
from typing import NamedTuple

from tiedviz.verdict.case import Case
from tiedviz.words.numbers import megabytes
from tiedviz.words.refusals.file import printable


class _Gap(NamedTuple):
    """A gap in the evidence: when it is there, its reason as a clause, and the remedy."""

    holds: Callable[[Case], bool]
    reason: Callable[[Case], str]
    remedy: Callable[[Case], str]


def reason_and_remedy(case: Case) -> tuple[str, str]:
    """Why nothing can be told, as a clause, and what to do, as a sentence."""
    gap = next(gap for gap in _GAPS if gap.holds(case))
    return gap.reason(case), gap.remedy(case)


def _uncompared(case: Case) -> str:
    return case.stored.uncompared if case.stored else ""


def _compare_words(case: Case) -> str:
    read = case.stored.to_read if case.stored else 0
    if _uncompared(case).startswith("comparing"):
        size = megabytes(read)
        return (
            f"Compare them ({size} to read; of a Hub repository `audit --compare` does), or open "
            "the model and hear all four."
        )
    return "Open the model with the library that wrote it, or take an unquantised version."


def _table_is_missing(case: Case) -> bool:
    return case.stored is not None and case.table is None


def _no_input(case: Case) -> bool:
    return case.stored is not None and case.stored.partner is None


def _no_flag(case: Case) -> bool:
    declared = case.declared
    return case.one_table and (declared is None or not (declared.raw or declared.architecture))


def _unknown_flag(case: Case) -> bool:
    return case.one_table and case.declared_tied is None


def _unknown_output(case: Case) -> bool:
    return case.one_table and case.has_output is None


def _memory_differs(case: Case) -> bool:
    return case.memory is not None and case.one_table


def _class_words(case: Case) -> str:
    name = case.declared.architecture if case.declared else None
    return f"the class {printable(name)}" if name else "no class is named, and its output"


def _scored_elsewhere(case: Case) -> bool:
    if case.scored_by == "neither":
        return True
    return case.scored_by == ("W" if case.shared_in_memory or case.one_table else "E")


def _scored_words(case: Case) -> str:
    if case.scored_by == "neither":
        return "the logits come from neither matrix: no changed row moves them"
    other = {"E": "the output matrix", "W": "the embedding"}[case.scored_by]
    return f"the logits come from {case.scored_by}, and not from {other}"


_HEAR_ALL = "Open the model and hear all four."
_GAPS = (
    _Gap(lambda case: case.two_copies and bool(_uncompared(case)), _uncompared, _compare_words),
    _Gap(
        lambda case: bool(case.stored and case.stored.empty and not case.stored.partner),
        lambda case: (
            f"{printable(case.stored.empty[0] if case.stored else '')} is stored without a number"
        ),
        lambda case: "Gather the parts of the model (DeepSpeed ZeRO-3) and save it again.",
    ),
    _Gap(
        _table_is_missing,
        lambda case: "no table of tokens was found in the files",
        lambda case: "Give a config.json that states vocab_size, or open the model.",
    ),
    _Gap(
        _scored_elsewhere,
        _scored_words,
        lambda case: (
            "Look into the model's forward pass: it does not score with the matrix it "
            "names as its output."
        ),
    ),
    _Gap(
        _memory_differs,
        lambda case: "the files hold one matrix, but the live model has two",
        lambda case: "Open the model again; something untied it after or while it was loaded.",
    ),
    _Gap(
        _no_flag,
        lambda case: "one matrix is stored, and no config.json says whether it does both jobs",
        lambda case: "Give config.json: put it beside the weights.",
    ),
    _Gap(
        _unknown_flag,
        lambda case: (
            "tie_word_embeddings is neither true nor false, and the class has no default "
            "that is known"
        ),
        lambda case: f"State tie_word_embeddings in config.json, or: {_HEAR_ALL}",
    ),
    _Gap(
        _unknown_output,
        lambda case: f"it is not known whether {_class_words(case)} scores tokens",
        lambda case: _HEAR_ALL,
    ),
    _Gap(
        _no_input,
        lambda case: "an output matrix is stored, but no input table was found",
        lambda case: _HEAR_ALL,
    ),
    _Gap(
        lambda case: bool(case.loaded and case.loaded.on_meta),
        lambda case: "the live model's matrices have no numbers in memory (meta or offloaded)",
        lambda case: "Give the files, or bring the model into memory.",
    ),
    _Gap(
        lambda case: bool(case.loaded and case.loaded.strange),
        lambda case: case.loaded.strange if case.loaded else "",
        lambda case: "Give the files; what the model scores with cannot be seen from outside.",
    ),
    _Gap(
        lambda case: bool(case.loaded and case.loaded.quantised),
        lambda case: "the output matrix is quantised in a way that cannot be compared with E",
        lambda case: "Give the files, or load it unquantised.",
    ),
    _Gap(lambda case: True, lambda case: "too little was heard", lambda case: _HEAR_ALL),
)
