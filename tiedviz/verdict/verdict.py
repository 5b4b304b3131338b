"""A verdict as it is shown, exported and printed."""

from typing import Literal, NamedTuple

from tiedviz.verdict.wording.words import Tone, Word
from tiedviz.words.numbers import unpacked_words


class Evidence(NamedTuple):
    """What one witness says: a row of the page's table."""

    witness: Literal["declared", "stored", "loaded", "measured"]
    state: str
    """In two or three words, such as "two copies" or "not heard"."""
    text: str
    """What that rests on. May be empty where it was not heard."""


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
