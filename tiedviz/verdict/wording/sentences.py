"""The sentences of a verdict: how things are, with numbers, how they came about, what to do."""

from __future__ import annotations

from tiedviz.verdict.case import Case
from tiedviz.verdict.verdict import Costs
from tiedviz.verdict.wording.apart import (
    apart_words,
    differing_words,
    unequal_advice,
    unequal_rows,
)
from tiedviz.verdict.wording.causes import causes_of
from tiedviz.verdict.wording.numbers import shape_words
from tiedviz.verdict.wording.words import Word
from tiedviz.words.numbers import exact_size, plural, short_count
from tiedviz.words.refusals.file import listed, printable

_STATES: dict[Word, str] = {
    "tied": "One table does both jobs.",
    "twin": "The file stores the same matrix twice.",
    "no_head": "No output matrix over tokens, so nothing to tie.",
    "adapter": "An adapter changes one side of a shared table.",
}
_ADVICE: dict[Word, str] = {
    "tied": "Nothing to do; “lm_head missing” messages about this model are harmless.",
    "near_twin": "Whether they load as one depends on the dtype; keep one copy.",
    "untied": "Normal. Keep both; never call `tie_weights()`.",
    "partly_tied": "Usually as designed; look at the groups before merging or quantising.",
    "no_head": "Open the language-model version for next-token pages.",
    "adapter": "Merging changes both roles; untie first if you mean one.",
}


def state_of(case: Case, word: Word) -> str:
    """One sentence: how things are."""
    if word == "near_twin":
        return f"Two copies of one matrix, equal up to {_step_words(case)}."
    if word == "untied":
        return _untied_state(case)
    if word == "contradiction":
        return f"Declared one table, {_where(case)} two ({differing_words(case)})."
    if word == "broken":
        return _broken_state(case)
    if word == "partly_tied":
        return _partly_state(case)
    if word == "cannot_tell":
        return f"The evidence heard so far cannot decide: {_gap(case)[0]}."
    if word == "twin" and not case.two_copies:
        return _twin_without_copies(case)
    return _STATES[word]


def advice_for(case: Case, word: Word, costs: Costs) -> str:
    """What to do about it."""
    path = printable(case.declared.path) if case.declared else "tie_word_embeddings"
    if word in ("twin", "near_twin") and case.stored and case.stored.format == "gguf":
        return (
            f"Keep one copy, and save {exact_size(costs.wasted_bytes)}: convert the original again "
            "as a tied model, or leave output.weight out of the file."
        )
    if word == "twin":
        return _twin_advice(case, costs, path)
    if word in ("contradiction", "untied") and unequal_rows(case):
        return unequal_advice(case)
    if word == "contradiction":
        return (
            "Loaders disagree: try both heads; to keep the stored head, set "
            f"{path} to false in config.json."
        )
    if word == "broken" and case.stored and case.stored.absent:
        return (
            "Do not trust its text. Fetch the files again: the index promises "
            f"{printable(case.stored.absent[0])}."
        )
    if word == "broken":
        return (
            f"Do not trust its text. If it was tied, set {path} to true in config.json; "
            "else go back to the save before the head was lost."
        )
    if word == "tied" and case.stored and case.stored.empty:
        return (
            f"{printable(case.stored.empty[0])} is stored without a number, and loaders stop at "
            "its shape: leave it out, or gather the parts (DeepSpeed ZeRO-3) and save again."
        )
    return _gap(case)[1] if word == "cannot_tell" else _ADVICE[word]


def summary_of(case: Case, word: Word, state: str, costs: Costs) -> str:
    """The state with its numbers, for one line."""
    parts = [state]
    if case.table and word != "no_head":
        name = "E" if case.stored and case.stored.partner else "W"
        parts.append(f"{name} {shape_words(case.table)}{_copies_words(case, costs)}.")
    if word in ("near_twin", "contradiction", "untied") and case.comparison:
        parts.append(apart_words(case))
    parts += causes_of(case, word)[:1]
    if word in ("tied", "untied") and case.measured and not case.measured.reproduced:
        parts.append(f"Its logits were not reproduced: {case.measured.reason}.")
    if word == "untied" and case.other_group:
        parts.append(f"{plural(len(case.other_group), 'table')} on the input side are one.")
    return " ".join(parts)


def _gap(case: Case) -> tuple[str, str]:
    from tiedviz.verdict.wording.reasons import reason_and_remedy

    return reason_and_remedy(case)


def _step_words(case: Case) -> str:
    if case.comparison is None:
        return "rounding or quantisation" if case.two_copies else "quantisation"
    if not case.comparison.within:
        return "the sign of zero"
    return f"{case.comparison.near} to {case.comparison.within}"


def _untied_state(case: Case) -> str:
    if case.declared and case.declared.inferred:
        return "Two different matrices; GGUF has no flag that could say otherwise."
    if case.declared_tied is None:
        return "Two different matrices; nothing declares whether that is meant."
    return "Two different matrices, as declared."


def _where(case: Case) -> str:
    return "the files hold" if case.two_copies else "memory holds"


def _broken_state(case: Case) -> str:
    if case.loaded and case.loaded.missing and not case.lone_input:
        names = ", ".join(printable(name) for name in case.loaded.missing[:3])
        return f"The files do not hold {names}; it is random."
    if case.declared and case.declared.forced is True:
        return (
            "Declared separate, but no output matrix is stored; transformers 5 puts E in its "
            "place, others fill it at random."
        )
    if case.lone_output:
        return "Declared separate, but only the output matrix is stored; E would be random."
    verb = "is" if case.loaded and case.loaded.missing else "would be"
    return f"Declared separate, but no output matrix is stored; it {verb} random."


def _partly_state(case: Case) -> str:
    if case.memory and case.memory.overlapping:
        return "The output matrix is a slice or a view of the input table's memory."
    group = case.other_group
    if group and case.memory and case.memory.head_name in group:
        return "The output shares a table with the decoder; the encoder does not."
    if group:
        return f"{_sides(group)} share a table; the output does not."
    if case.stored and case.stored.apart:
        names = listed(case.stored.apart)
        return f"The shared table scores; other numbers are stored in {names}."
    return "Decoder and output share a table; the encoder has one of its own."


def _sides(group: tuple[str, ...]) -> str:
    words = {part for name in group for part in name.split(".")}
    return "Encoder and decoder" if {"encoder", "decoder"} <= words else "Several inputs"


def _twin_without_copies(case: Case) -> str:
    if case.stored and case.stored.shares_storage:
        return "The file stores one matrix under two names, but declares them separate."
    return "Memory holds the same matrix twice."


def _twin_advice(case: Case, costs: Costs, path: str) -> str:
    if case.declared_tied is True:
        return f"Declared tied: re-save to save {exact_size(costs.wasted_bytes)}."
    drift = "they drift apart at the first training step."
    if case.declared_tied is False:
        return f"Declared untied: {drift}"
    return f"Set {path} in config.json: true to load one matrix; false, and {drift}"


def _copies_words(case: Case, costs: Costs) -> str:
    if case.stored and case.two_copies and case.stored.head:
        return f", and an output matrix {shape_words(case.stored.head)}"
    if not costs.saved_by_tying:
        return ", stored once"
    saved = costs.saved_by_tying
    return f", stored once, saves {short_count(saved)} parameters = {exact_size(2 * saved)} in bf16"
