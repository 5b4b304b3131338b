"""From the witnesses to one of ten words. The first rule that holds decides.

What the fourth witness may change. The words speak of matrices, so a number that does not come out
is no fault of tying by itself:

* Reproduced: nothing changes; the formula stands in the evidence.
* Not reproduced, yet rows of the matrix move the logits: the head does something of its own to the
  product (MobileBERT widens the matrix, others bend it). The word stands, and its summary says that
  the logits were not reproduced.
* Not reproduced, and nobody could try: the same.
* The logits come from another matrix than the word claims: neither `tied` nor `untied` can be
  carried, whatever the other three say, and the answer is `cannot_tell`. For `tied` that is any
  matrix but E; for `untied` any but W.

The other words say what files hold or what was declared, which no logit refutes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tiedviz.verdict.case import Case
from tiedviz.verdict.costs import costs_of
from tiedviz.verdict.verdict import Verdict
from tiedviz.verdict.witnesses import Declared, Stored
from tiedviz.verdict.wording.causes import causes_of
from tiedviz.verdict.wording.evidence import evidence_of, unheard
from tiedviz.verdict.wording.loaders import other_loaders
from tiedviz.verdict.wording.sentences import advice_for, state_of, summary_of
from tiedviz.verdict.wording.words import TONES, Word

if TYPE_CHECKING:
    from tiedviz.verdict.live import Loaded, Measured


def decide(
    declared: Declared | None,
    stored: Stored | None,
    loaded: Loaded | None = None,
    measured: Measured | None = None,
    *,
    not_loaded: str = "",
) -> Verdict:
    """The verdict on whatever has been heard; None for a witness that has not.

    Args:
        declared: the first witness, from config.json.
        stored: the second, from the files.
        loaded: the third, from a live model.
        measured: the fourth, from its logits.
        not_loaded: why the live model could not be heard, as a sentence, for the evidence.
    """
    case = Case(declared, stored, loaded, measured)
    word = word_for(case)
    costs = costs_of(case, word)
    state = state_of(case, word)
    return Verdict(
        word=word,
        tone=TONES[word],
        state=state,
        advice=advice_for(case, word, costs),
        summary=summary_of(case, word, state, costs),
        causes=causes_of(case, word),
        evidence=evidence_of(case, not_loaded),
        unheard=unheard(case),
        costs=costs,
        groups=case.tie_groups,
        other_loaders=other_loaders(case, word),
        is_wrong=_is_wrong(case, word),
    )


def word_for(case: Case) -> Word:
    """The word alone."""
    return next((word for word, holds in _RULES if holds(case)), "cannot_tell")


def _no_head(case: Case) -> bool:
    return case.has_output is False


def _adapter(case: Case) -> bool:
    """Over a tied layer only: on two separate matrices an adapter surprises nobody."""
    stored = case.stored.adapters if case.stored else ()
    loaded = case.memory.adapters if case.memory else ()
    if not (stored or loaded):
        return False
    if loaded:
        return case.shared_in_memory
    return case.one_table and case.declared_tied is True


def _broken(case: Case) -> bool:
    if case.loaded and case.loaded.missing and not case.shared_in_memory:
        return True
    if case.declared is None or case.declared.inferred or case.declared.tied is not False:
        return False
    if case.loaded and case.loaded.strange:
        return False  # its class scores by a way of its own, and misses nothing
    return case.has_output is True and (case.lone_input or case.lone_output)


def _twin(case: Case) -> bool:
    if case.two_copies:
        if case.comparison:
            return case.comparison.same_bytes
        return case.shared_in_memory and _one_type(case)
    if case.stored and case.stored.shares_storage:
        return case.declared_tied is False
    return _only_memory(case) and bool(case.memory and case.memory.same_values and _apart(case))


def _near_twin(case: Case) -> bool:
    if case.two_copies:
        if case.comparison:
            return bool(case.comparison.near)
        return case.shared_in_memory and case.stored is not None and case.stored.comparable
    return bool(case.memory and case.memory.near)


def _different(case: Case) -> bool:
    """Whether two matrices were seen of which some element differs."""
    if case.two_copies:
        if case.comparison:
            return True  # neither a twin nor a near twin, by the rules before
        return case.memory is not None and case.memory.same_values is False
    memory = case.memory
    if not _only_memory(case) or memory is None or memory.quantised or memory.overlapping:
        return False
    return memory.same_values is False and not case.other_group


def _contradiction(case: Case) -> bool:
    return _different(case) and case.declared_tied is True


def _untied(case: Case) -> bool:
    return _different(case) and case.scored_by not in ("E", "neither")


def _partly_tied(case: Case) -> bool:
    if case.memory and case.memory.overlapping:
        return True
    if case.other_group:
        return True
    if case.stored is None or case.two_copies or case.declared_tied is not True:
        return False
    return case.stored.decoder_table is not None or bool(case.stored.apart)


def _tied(case: Case) -> bool:
    if case.scored_by in ("W", "neither"):
        return False
    if case.memory and not case.memory.same_storage:
        return False
    if case.two_copies and case.stored and not case.stored.comparable:
        return False  # whatever memory holds, the stored head was not read
    if case.shared_in_memory:
        return True
    if case.stored and case.stored.shares_storage:
        return True  # `declared untied` has been a twin already
    if case.one_table and case.stored and case.stored.alias and case.declared_tied is None:
        return True
    return case.one_table and case.declared_tied is True and case.has_output is True


def _only_memory(case: Case) -> bool:
    """Whether nothing stored says anything about E and W."""
    return case.table is None


def _apart(case: Case) -> bool:
    return case.memory is not None and not case.memory.same_storage


def _one_type(case: Case) -> bool:
    stored = case.stored
    if stored is None or stored.partner is None or stored.head is None:
        return False
    return stored.partner.dtype == stored.head.dtype


_RULES: tuple[tuple[Word, Callable[[Case], bool]], ...] = (
    ("no_head", _no_head),
    ("adapter", _adapter),
    ("broken", _broken),
    ("twin", _twin),
    ("near_twin", _near_twin),
    ("contradiction", _contradiction),
    ("untied", _untied),
    ("partly_tied", _partly_tied),
    ("tied", _tied),
)


def _is_wrong(case: Case, word: Word) -> bool:
    """Whether a person should do something about it."""
    if word == "twin":
        return case.declared_tied is False
    return word in ("contradiction", "broken", "near_twin")
