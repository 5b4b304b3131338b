"""What is said of a verdict: its tone, how things are, what to do, and what other programs do.

All that belongs to one of the ten words stands in its row of `_WORDING`, or in the functions that
the row names. What a witness says is worded in `report`, why nothing can be told in `gaps`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tiedviz.verdict.gaps import reason_and_remedy
from tiedviz.words.numbers import count, exact_size, plural, short_count, small_number
from tiedviz.words.refusals.file import listed, printable

if TYPE_CHECKING:
    from tiedviz.files.header import StoredTensor
    from tiedviz.verdict.audit import Audit
    from tiedviz.verdict.decide import Costs
    from tiedviz.verdict.witnesses import Stored

Word = Literal[
    "tied",
    "twin",
    "near_twin",
    "untied",
    "contradiction",
    "broken",
    "partly_tied",
    "no_head",
    "adapter",
    "cannot_tell",
]
Tone = Literal["calm", "amber", "red", "grey"]


@dataclass(frozen=True)
class _Wording:
    """What is said where a verdict is this word; a function where that hangs on the evidence."""

    tone: Tone
    state: str | Callable[[Audit], str]
    """One sentence: how things are."""
    advice: str | Callable[[Audit, Costs], str]
    """What to do about it."""
    loaders: tuple[str, ...] | Callable[[Audit], tuple[str, ...]] = ()
    """A clause for each kind of program that reads the same files otherwise; not of GGUF."""
    gguf: tuple[str, ...] = ()
    """The same for GGUF files."""


def tone_of(word: Word) -> Tone:
    """How alarming it is."""
    return _WORDING[word].tone


def state_of(audit: Audit, word: Word) -> str:
    """One sentence: how things are."""
    state = _WORDING[word].state
    return state if isinstance(state, str) else state(audit)


def advice_for(audit: Audit, word: Word, costs: Costs) -> str:
    """What to do about it."""
    advice = _WORDING[word].advice
    return advice if isinstance(advice, str) else advice(audit, costs)


def other_loaders(audit: Audit, word: Word) -> tuple[str, ...]:
    """One clause for each kind of loader; empty where all do the same."""
    if audit.is_gguf:
        return _WORDING[word].gguf
    loaders = _WORDING[word].loaders
    return loaders if isinstance(loaders, tuple) else loaders(audit)


def summary_of(audit: Audit, word: Word, state: str, costs: Costs) -> str:
    """The state with its numbers, for one line."""
    parts = [state]
    if audit.table and word != "no_head":
        name = "E" if audit.stored and audit.stored.partner else "W"
        parts.append(f"{name} {shape_words(audit.table)}{_copies_words(audit, costs)}.")
    if word in ("near_twin", "contradiction", "untied") and audit.comparison:
        parts.append(_difference_text(audit))
    parts += causes_of(audit, word)[:1]
    if word in ("tied", "untied") and audit.measured and not audit.measured.reproduced:
        parts.append(f"Its logits were not reproduced: {audit.measured.reason}.")
    if word == "untied" and audit.other_group:
        parts.append(f"{plural(len(audit.other_group), 'table')} on the input side are one.")
    return " ".join(parts)


def shape_words(tensor: StoredTensor) -> str:
    """49,152×576."""
    return "×".join(count(size) for size in tensor.shape)


def _copies_words(audit: Audit, costs: Costs) -> str:
    if audit.stored and audit.two_copies and audit.stored.head:
        return f", and an output matrix {shape_words(audit.stored.head)}"
    if not costs.saved_by_tying:
        return ", stored once"
    saved = costs.saved_by_tying
    return f", stored once, saves {short_count(saved)} parameters = {exact_size(2 * saved)} in bf16"


# tied


def _tied_advice(audit: Audit, costs: Costs) -> str:
    if audit.stored and audit.stored.empty:
        return (
            f"{printable(audit.stored.empty[0])} is stored without a number, and loaders stop at "
            "its shape: leave it out, or gather the parts (DeepSpeed ZeRO-3) and save again."
        )
    return "Nothing to do; “lm_head missing” messages about this model are harmless."


# twin, near_twin


def _twin_state(audit: Audit) -> str:
    if audit.two_copies:
        return "The file stores the same matrix twice."
    if audit.stored and audit.stored.shares_storage:
        return "The file stores one matrix under two names, but declares them separate."
    return "Memory holds the same matrix twice."


def _twin_advice(audit: Audit, costs: Costs) -> str:
    if audit.is_gguf:
        return _gguf_twin_advice(costs)
    if audit.declared_tied is True:
        return f"Declared tied: re-save to save {exact_size(costs.wasted_bytes)}."
    drift = "they drift apart at the first training step."
    if audit.declared_tied is False:
        return f"Declared untied: {drift}"
    return f"Set {_flag(audit)} in config.json: true to load one matrix; false, and {drift}"


def _gguf_twin_advice(costs: Costs) -> str:
    return (
        f"Keep one copy, and save {exact_size(costs.wasted_bytes)}: convert the original again "
        "as a tied model, or leave output.weight out of the file."
    )


def _twin_loaders(audit: Audit) -> tuple[str, ...]:
    if audit.declared_tied is False:
        return ("transformers loads two equal tensors: twice the memory, and they train apart",)
    return (
        "transformers finds them equal and ties them",
        "loaders that do not compare hold the matrix twice",
    )


def _near_twin_state(audit: Audit) -> str:
    return f"Two copies of one matrix, equal up to {_step_words(audit)}."


def _step_words(audit: Audit) -> str:
    if audit.comparison is None:
        return "rounding or quantisation" if audit.two_copies else "quantisation"
    if not audit.comparison.within:
        return "the sign of zero"
    return f"{audit.comparison.near} to {audit.comparison.within}"


def _near_twin_advice(audit: Audit, costs: Costs) -> str:
    if audit.is_gguf:
        return _gguf_twin_advice(costs)
    return "Whether they load as one depends on the dtype; keep one copy."


def _near_twin_loaders(audit: Audit) -> tuple[str, ...]:
    if audit.declared_tied is not True or not audit.comparison or not audit.comparison.within:
        return ("transformers loads two matrices",)
    return (
        "transformers compares them in the dtype it loads: two matrices in float32, "
        f"one where both become {audit.comparison.within}",
        _OLDER,
    )


_OLDER = "transformers 4.54 and later 4.x, llama.cpp's converter and vLLM may drop the stored head"
_GGUF_TWINS = ("llama.cpp and transformers use both copies, and hold both in memory",)


# untied, contradiction


def _untied_state(audit: Audit) -> str:
    if audit.declared and audit.declared.inferred:
        return "Two different matrices; GGUF has no flag that could say otherwise."
    if audit.declared_tied is None:
        return "Two different matrices; nothing declares whether that is meant."
    return "Two different matrices, as declared."


def _untied_advice(audit: Audit, costs: Costs) -> str:
    return _unequal_advice(audit) or "Normal. Keep both; never call `tie_weights()`."


def _untied_loaders(audit: Audit) -> tuple[str, ...]:
    if not (audit.declared and audit.declared.forced is True):
        return ()
    return (
        "transformers 5 sets the flag to true when it reads the file, and keeps both matrices",
        "`resize_token_embeddings()` ties them again and destroys the stored head",
    )


def _contradiction_state(audit: Audit) -> str:
    where = "the files hold" if audit.two_copies else "memory holds"
    return f"Declared one table, {where} two ({_differing_words(audit)})."


def _contradiction_advice(audit: Audit, costs: Costs) -> str:
    return _unequal_advice(audit) or (
        "Loaders disagree: try both heads; to keep the stored head, set "
        f"{_flag(audit)} to false in config.json."
    )


def unequal_rows(stored: Stored | None) -> tuple[int, int] | None:
    """Rows of E and of W where these have the same width and not as many rows; else None."""
    if stored is None or not stored.two_copies or stored.comparison is None:
        return None
    table, head = stored.partner, stored.head
    if table is None or head is None or stored.comparison.max_abs is None:
        return None
    if table.shape[0] == head.shape[0] or table.shape[1] != head.shape[1]:
        return None
    return table.shape[0], head.shape[0]


def _unequal_advice(audit: Audit) -> str:
    """What to do where one matrix was resized or padded without the other; empty where not."""
    rows, found = unequal_rows(audit.stored), audit.comparison
    if rows is None or found is None:
        return ""
    one = f"E has {count(rows[0])} rows and the output matrix {count(rows[1])}"
    common_equal = found.far_rows == abs(rows[0] - rows[1]) and not found.max_abs
    if audit.declared_tied and common_equal:
        return (
            f"{one}, and those in common are equal: keep the one with as many rows as vocab_size "
            "in config.json states, and leave the other out."
        )
    return f"{one}: most loaders refuse that. Go back to the save before one was resized alone."


def _differing_words(audit: Audit) -> str:
    """How many rows differ, as in "300 of 300 rows differ"."""
    found = audit.comparison
    if found is None or audit.table is None:
        return "they differ"
    if rows := unequal_rows(audit.stored):
        common = found.far_rows - abs(rows[0] - rows[1])
        those = "all" if not common else f"all but {count(common)}"
        return (
            f"of {count(rows[0])} and {count(rows[1])} rows; {those} of the first "
            f"{count(min(rows))} are equal"
        )
    return f"{count(found.far_rows)} of {plural(audit.table.shape[0], 'row')} differ"


def _difference_text(audit: Audit) -> str:
    """By how much two stored matrices differ, as a sentence; empty where they were not compared."""
    found = audit.comparison
    if found is None or found.max_abs is None:
        return "" if found is None else "Their shapes, or some numbers, cannot be set side by side."
    return (
        f"{plural(found.differing_elements, 'element')} in {plural(found.differing_rows, 'row')} "
        f"differ, max |Δ| = {small_number(found.max_abs)}, relative error "
        f"{small_number(found.relative_error)}, least row cosine "
        f"{small_number(found.min_row_cosine)}."
    )


# broken


def _broken_state(audit: Audit) -> str:
    if _does_not_fit(audit) and audit.fit:
        rows = f" ({_differing_words(audit)})" if unequal_rows(audit.stored) else ""
        return f"The files do not fit config.json: {audit.fit.words}{rows}."
    missing = audit.loaded.missing if audit.loaded else ()
    if missing and not audit.lone_input:
        names = ", ".join(printable(name) for name in missing[:3])
        return f"The files do not hold {names}; it is random."
    if audit.declared and audit.declared.forced is True:
        return (
            "Declared separate, but no output matrix is stored; transformers 5 puts E in its "
            "place, others fill it at random."
        )
    if audit.lone_output:
        return "Declared separate, but only the output matrix is stored; E would be random."
    verb = "is" if missing else "would be"
    return f"Declared separate, but no output matrix is stored; it {verb} random."


def _does_not_fit(audit: Audit) -> bool:
    """Whether more is wrong than an output matrix that lacks, which has words of its own."""
    fit = audit.fit
    if fit is None or not fit.broken:
        return False
    sides = audit.stored is not None and (audit.lone_input or audit.lone_output)
    only_tables = len(fit.missing) == 1 and not (fit.mismatched or fit.renamed)
    return not (sides and only_tables and audit.declared_tied is False)


def _broken_advice(audit: Audit, costs: Costs) -> str:
    if _does_not_fit(audit) and audit.fit:
        return _unequal_advice(audit) or audit.fit.remedy
    if audit.stored and audit.stored.absent:
        return (
            "Do not trust its text. Fetch the files again: the index promises "
            f"{printable(audit.stored.absent[0])}."
        )
    return (
        f"Do not trust its text. If it was tied, set {_flag(audit)} to true in config.json; "
        "else go back to the save before the head was lost."
    )


def causes_of(audit: Audit, word: Word) -> tuple[str, ...]:
    """How a broken model usually came about, the likeliest first; empty of every other."""
    if word != "broken" or _does_not_fit(audit):
        return ()
    others = (
        "The flag was set to false, or deleted, in the config.json of a tied model.",
        "The head was lost in a merge, a conversion or an incomplete download.",
    )
    stored = audit.stored
    if stored and stored.alias:
        was = (
            f"It was tied when it was saved: the file's metadata says that "
            f"{printable(stored.alias)} is the stored matrix."
        )
        return (was, others[0])
    if stored and stored.empty:
        hollow = (
            f"{printable(stored.empty[0])} is stored without a number, as a save from parts "
            "that were not gathered leaves it (DeepSpeed ZeRO-3)."
        )
        return (hollow, *others)
    if stored and stored.absent:
        return (f"The index promises {printable(stored.absent[0])}, which no file holds.", *others)
    by_hand = (
        "Likely cause: the head was tied by hand (`lm_head.weight = embed_tokens.weight`) and "
        "saved with the flag false, so that it was left out of the file."
    )
    return (by_hand, *others) if audit.lone_input else others


# partly_tied, cannot_tell


def _partly_state(audit: Audit) -> str:
    memory, group = audit.memory, audit.other_group
    if memory and memory.overlapping:
        return "The output matrix is a slice or a view of the input table's memory."
    if group and memory and memory.head_name in group:
        return "The output shares a table with the decoder; the encoder does not."
    if group:
        words = {part for name in group for part in name.split(".")}
        sides = "Encoder and decoder" if {"encoder", "decoder"} <= words else "Several inputs"
        return f"{sides} share a table; the output does not."
    if audit.stored and audit.stored.apart:
        names = listed(audit.stored.apart)
        return f"The shared table scores; other numbers are stored in {names}."
    return "Decoder and output share a table; the encoder has one of its own."


def _cannot_tell_state(audit: Audit) -> str:
    return f"The evidence heard so far cannot decide: {reason_and_remedy(audit)[0]}."


def _cannot_tell_advice(audit: Audit, costs: Costs) -> str:
    return reason_and_remedy(audit)[1]


def _flag(audit: Audit) -> str:
    """The flag to change in config.json, safe to show."""
    return printable(audit.declared.path) if audit.declared else "tie_word_embeddings"


_WORDING: dict[Word, _Wording] = {
    "tied": _Wording(
        "calm",
        "One table does both jobs.",
        _tied_advice,
        (
            "transformers, llama.cpp and vLLM use the one matrix for both",
            "loaders that insist on a stored head stop, or fill one in at random",
        ),
        gguf=("llama.cpp reads the output from token_embd; transformers sets the flag to true",),
    ),
    "twin": _Wording("amber", _twin_state, _twin_advice, _twin_loaders, _GGUF_TWINS),
    "near_twin": _Wording(
        "amber", _near_twin_state, _near_twin_advice, _near_twin_loaders, _GGUF_TWINS
    ),
    "untied": _Wording("calm", _untied_state, _untied_advice, _untied_loaders),
    "contradiction": _Wording(
        "red",
        _contradiction_state,
        _contradiction_advice,
        (
            "transformers 5 and later keeps both, and warns",
            f"{_OLDER} and use the embedding in its place",
            "`tie_weights()` and `resize_token_embeddings()` tie them again; the stored head is "
            "lost",
        ),
    ),
    "broken": _Wording(
        "red",
        _broken_state,
        _broken_advice,
        (
            "transformers fills the head with random numbers, and only lists it as MISSING",
            "llama.cpp and some others use the embedding as the head, whatever the flag says",
        ),
    ),
    "partly_tied": _Wording(
        "amber",
        _partly_state,
        "Usually as designed; look at the groups before merging or quantising.",
    ),
    "no_head": _Wording(
        "calm",
        "No output matrix over tokens, so nothing to tie.",
        "Open the language-model version for next-token pages.",
    ),
    "adapter": _Wording(
        "amber",
        "An adapter changes one side of a shared table.",
        "Merging changes both roles; untie first if you mean one.",
        ("a check of pointers says tied, though the two sides no longer act alike",),
    ),
    "cannot_tell": _Wording("grey", _cannot_tell_state, _cannot_tell_advice),
}
