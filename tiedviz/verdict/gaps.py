"""Why a verdict cannot be given yet, and what would settle it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tiedviz.verdict.witnesses import COMPARING
from tiedviz.words.numbers import megabytes
from tiedviz.words.refusals.file import printable

if TYPE_CHECKING:
    from tiedviz.verdict.audit import Audit

_HEAR_ALL = "Open the model and hear all four."


def reason_and_remedy(audit: Audit) -> tuple[str, str]:
    """Why nothing can be told, as a clause, and what to do, as a sentence."""
    return next(gap for rule in _GAPS if (gap := rule(audit)))


def _of_files(audit: Audit) -> tuple[str, str] | None:
    stored = audit.stored
    if stored is None:
        return None
    if audit.two_copies and stored.uncompared:
        if stored.uncompared.startswith(COMPARING):
            return stored.uncompared, (
                f"Compare them ({megabytes(stored.to_read)} to read; of a Hub repository "
                "`audit --compare` does), or open the model and hear all four."
            )
        remedy = "Open the model with the library that wrote it, or take an unquantised version."
        return stored.uncompared, remedy
    if stored.empty and not stored.partner:
        return (
            f"{printable(stored.empty[0])} is stored without a number",
            "Gather the parts of the model (DeepSpeed ZeRO-3) and save it again.",
        )
    if audit.table is None:
        return (
            "no table of tokens was found in the files",
            "Give a config.json that states vocab_size, or open the model.",
        )
    return None


def _of_logits(audit: Audit) -> tuple[str, str] | None:
    expected = "E" if audit.shared_in_memory or audit.one_table else "W"
    if audit.scored_by in ("", expected):
        return None
    remedy = (
        "Look into the model's forward pass: it does not score with the matrix it names as its "
        "output."
    )
    if audit.scored_by == "neither":
        return "the logits come from neither matrix: no changed row moves them", remedy
    other = {"E": "the output matrix", "W": "the embedding"}[audit.scored_by]
    return f"the logits come from {audit.scored_by}, and not from {other}", remedy


def _of_one_table(audit: Audit) -> tuple[str, str] | None:
    if not audit.one_table:
        return None
    declared = audit.declared
    if audit.memory is not None:
        return (
            "the files hold one matrix, but the live model has two",
            "Open the model again; something untied it after or while it was loaded.",
        )
    if declared is None or not (declared.raw or declared.architecture):
        return (
            "one matrix is stored, and no config.json says whether it does both jobs",
            "Give config.json: put it beside the weights.",
        )
    if audit.declared_tied is None:
        return (
            "tie_word_embeddings is neither true nor false, and the class has no default that is "
            "known",
            f"State tie_word_embeddings in config.json, or: {_HEAR_ALL}",
        )
    if audit.has_output is None:
        name = declared.architecture
        of = f"the class {printable(name)}" if name else "no class is named, and its output"
        return f"it is not known whether {of} scores tokens", _HEAR_ALL
    return None


def _of_memory(audit: Audit) -> tuple[str, str] | None:
    loaded = audit.loaded
    if audit.stored is not None and audit.stored.partner is None:
        return "an output matrix is stored, but no input table was found", _HEAR_ALL
    if loaded and loaded.on_meta:
        return (
            "the live model's matrices have no numbers in memory (meta or offloaded)",
            "Give the files, or bring the model into memory.",
        )
    if loaded and loaded.strange:
        remedy = "Give the files; what the model scores with cannot be seen from outside."
        return loaded.strange, remedy
    if loaded and loaded.quantised:
        return (
            "the output matrix is quantised in a way that cannot be compared with E",
            "Give the files, or load it unquantised.",
        )
    return "too little was heard", _HEAR_ALL


_GAPS: tuple[Callable[[Audit], tuple[str, str] | None], ...] = (
    _of_files,
    _of_logits,
    _of_one_table,
    _of_memory,
)
