"""What does sharing save, or a second copy waste, in parameters and bytes?"""

from __future__ import annotations

from tiedviz.verdict.case import Case
from tiedviz.verdict.verdict import Costs
from tiedviz.verdict.witnesses import Stored
from tiedviz.verdict.wording.words import Word


def costs_of(case: Case, word: Word) -> Costs:
    """Counted from the live model where it was heard and has numbers, else from the headers."""
    shared = _is_shared(case, word)
    if case.memory and case.memory.parameters:
        memory = case.memory
        head = 0 if memory.same_storage else memory.head
        saved = memory.embedding if memory.same_storage else 0
        return Costs(
            memory.parameters, "loaded", memory.embedding, head, saved, _wasted(case, word)
        )
    stored = case.stored or Stored("safetensors")
    table, output = stored.numbers(case.table), stored.numbers(stored.head)
    total = stored.parameters
    if case.two_copies and shared:
        total -= output
    if stored.shares_storage and not shared:
        total += output
    separate = output if output and not shared and (case.two_copies or word == "twin") else 0
    return Costs(
        total,
        "headers",
        table,
        separate,
        table if shared else 0,
        _wasted(case, word),
        stored.unpacked_bytes,
        stored.uncounted,
    )


def _is_shared(case: Case, word: Word) -> bool:
    """Whether E and W are, or become on loading, one matrix in memory."""
    if word == "twin":
        return case.declared_tied is True
    return word in ("tied", "adapter") or (word == "partly_tied" and case.lone_input)


def _wasted(case: Case, word: Word) -> int:
    head = case.stored.head if case.stored and case.two_copies else None
    return head.nbytes if head and word in ("twin", "near_twin") else 0
