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
from typing import TYPE_CHECKING, Literal, NamedTuple

from tiedviz.verdict.report import Evidence, evidence_of, unheard
from tiedviz.verdict.witnesses import Stored
from tiedviz.verdict.wording import (
    Tone,
    Word,
    advice_for,
    causes_of,
    other_loaders,
    state_of,
    summary_of,
    tone_of,
)
from tiedviz.words.numbers import unpacked_words

if TYPE_CHECKING:
    from tiedviz.verdict.audit import Audit


class Costs(NamedTuple):
    """Parameters and bytes, and what sharing the matrix saves or would save."""

    total: int
    """Parameters of the model, each once."""
    counted_from: Literal["headers", "loaded"]
    embedding: int
    """Numbers in E."""
    head: int
    """Numbers in W where it is a matrix of its own, else 0."""
    saved_by_tying: int
    """V·d where E and W are one matrix, else 0."""
    wasted_bytes: int = 0
    """Bytes of a second copy that a file need not hold."""
    unpacked_bytes: int = 0
    """Bytes of packed weights that were counted as what they hold."""
    uncounted: bool = False
    """Whether some packed weights could not be, so that `total` is too small."""

    @property
    def origin(self) -> str:
        """Where `total` comes from, as a clause."""
        if self.counted_from == "loaded":
            return "counted in memory"
        return "counted from headers" + unpacked_words(self.unpacked_bytes, self.uncounted)

    @property
    def share(self) -> float | None:
        """The part of the parameters that lies in E, and in W where it is another matrix."""
        return (self.embedding + self.head) / self.total if self.total else None

    @property
    def embedding_share(self) -> float | None:
        """The part that lies in E."""
        return self.embedding / self.total if self.total else None


class Verdict(NamedTuple):
    """Is it tied? One word, why, what it costs, and what to do."""

    word: Word
    tone: Tone
    state: str
    """One sentence: how things are."""
    advice: str
    """One sentence or two: what to do."""
    summary: str
    """The state with its numbers."""
    causes: tuple[str, ...]
    """Where something is wrong: how that usually came about, the likeliest first."""
    evidence: tuple[Evidence, ...]
    """Always the four, in order."""
    unheard: tuple[str, ...]
    """Names of the witnesses that have not been heard."""
    costs: Costs
    groups: tuple[tuple[str, ...], ...]
    """All ties of the model: names of the same numbers."""
    other_loaders: tuple[str, ...]
    """What other loaders would do, where they differ."""
    is_wrong: bool
    """Whether something should be done about it: exit status 1."""


def decide(audit: Audit) -> Verdict:
    """The verdict on whatever has been heard."""
    word: Word = next((word for word, holds in _RULES if holds(audit)), "cannot_tell")
    costs = costs_of(audit, word)
    state = state_of(audit, word)
    return Verdict(
        word=word,
        tone=tone_of(word),
        state=state,
        advice=advice_for(audit, word, costs),
        summary=summary_of(audit, word, state, costs),
        causes=causes_of(audit, word),
        evidence=evidence_of(audit),
        unheard=unheard(audit),
        costs=costs,
        groups=audit.tie_groups,
        other_loaders=other_loaders(audit, word),
        is_wrong=_is_wrong(audit, word),
    )


def _no_head(audit: Audit) -> bool:
    return audit.has_output is False


def _adapter(audit: Audit) -> bool:
    """Over a tied layer only: on two separate matrices an adapter surprises nobody."""
    stored = audit.stored.adapters if audit.stored else ()
    loaded = audit.memory.adapters if audit.memory else ()
    if not (stored or loaded):
        return False
    if loaded:
        return audit.shared_in_memory
    return audit.one_table and audit.declared_tied is True


def _broken(audit: Audit) -> bool:
    if audit.fit and audit.fit.broken:
        return True
    if audit.loaded and audit.loaded.missing and not audit.shared_in_memory:
        return True
    if audit.declared is None or audit.declared.inferred or audit.declared.tied is not False:
        return False
    if audit.loaded and audit.loaded.strange:
        return False  # its class scores by a way of its own, and misses nothing
    return audit.has_output is True and (audit.lone_input or audit.lone_output)


def _twin(audit: Audit) -> bool:
    if audit.two_copies:
        if audit.comparison:
            return audit.comparison.same_bytes
        return audit.shared_in_memory and _one_type(audit)
    if audit.stored and audit.stored.shares_storage:
        return audit.declared_tied is False
    return _only_memory(audit) and bool(audit.memory and audit.memory.same_values and _apart(audit))


def _near_twin(audit: Audit) -> bool:
    if audit.two_copies:
        if audit.comparison:
            return bool(audit.comparison.near)
        return audit.shared_in_memory and audit.stored is not None and audit.stored.comparable
    return bool(audit.memory and audit.memory.near)


def _different(audit: Audit) -> bool:
    """Whether two matrices were seen of which some element differs."""
    if audit.two_copies:
        if audit.comparison:
            return True  # neither a twin nor a near twin, by the rules before
        return audit.memory is not None and audit.memory.same_values is False
    memory = audit.memory
    if not _only_memory(audit) or memory is None or memory.quantised or memory.overlapping:
        return False
    return memory.same_values is False and not audit.other_group


def _contradiction(audit: Audit) -> bool:
    return _different(audit) and audit.declared_tied is True


def _untied(audit: Audit) -> bool:
    return _different(audit) and audit.scored_by not in ("E", "neither")


def _partly_tied(audit: Audit) -> bool:
    if audit.memory and audit.memory.overlapping:
        return True
    if audit.other_group:
        return True
    if audit.stored is None or audit.two_copies or audit.declared_tied is not True:
        return False
    return audit.stored.decoder_table is not None or bool(audit.stored.apart)


def _tied(audit: Audit) -> bool:
    if audit.scored_by in ("W", "neither"):
        return False
    if audit.memory and not audit.memory.same_storage:
        return False
    if audit.two_copies and audit.stored and not audit.stored.comparable:
        return False  # whatever memory holds, the stored head was not read
    if audit.shared_in_memory:
        return True
    if audit.stored and audit.stored.shares_storage:
        return True  # `declared untied` has been a twin already
    if audit.one_table and audit.stored and audit.stored.alias and audit.declared_tied is None:
        return True
    return audit.one_table and audit.declared_tied is True and audit.has_output is True


def _only_memory(audit: Audit) -> bool:
    """Whether nothing stored says anything about E and W."""
    return audit.table is None


def _apart(audit: Audit) -> bool:
    return audit.memory is not None and not audit.memory.same_storage


def _one_type(audit: Audit) -> bool:
    stored = audit.stored
    if stored is None or stored.partner is None or stored.head is None:
        return False
    return stored.partner.dtype == stored.head.dtype


_RULES: tuple[tuple[Word, Callable[[Audit], bool]], ...] = (
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


def _is_wrong(audit: Audit, word: Word) -> bool:
    """Whether a person should do something about it."""
    if audit.fit and audit.fit.left_over:
        return True
    if word == "twin":
        return audit.declared_tied is False
    return word in ("contradiction", "broken", "near_twin")


def costs_of(audit: Audit, word: Word) -> Costs:
    """Counted from the live model where it was heard and has numbers, else from the headers."""
    shared = _is_shared(audit, word)
    if audit.memory and audit.memory.parameters:
        memory = audit.memory
        head = 0 if memory.same_storage else memory.head
        saved = memory.embedding if memory.same_storage else 0
        return Costs(
            memory.parameters, "loaded", memory.embedding, head, saved, _wasted(audit, word)
        )
    stored = audit.stored or Stored("safetensors")
    table, output = stored.numbers(audit.table), stored.numbers(stored.head)
    total = stored.parameters
    if audit.two_copies and shared:
        total -= output
    if stored.shares_storage and not shared:
        total += output
    separate = output if output and not shared and (audit.two_copies or word == "twin") else 0
    return Costs(
        total,
        "headers",
        table,
        separate,
        table if shared else 0,
        _wasted(audit, word),
        stored.unpacked_bytes,
        stored.uncounted,
    )


def _is_shared(audit: Audit, word: Word) -> bool:
    """Whether E and W are, or become on loading, one matrix in memory."""
    if word == "twin":
        return audit.declared_tied is True
    return word in ("tied", "adapter") or (word == "partly_tied" and audit.lone_input)


def _wasted(audit: Audit, word: Word) -> int:
    head = audit.stored.head if audit.stored and audit.two_copies else None
    return head.nbytes if head and word in ("twin", "near_twin") else 0
