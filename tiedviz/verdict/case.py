"""The four witnesses side by side, and the plain questions that a verdict turns on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiedviz.files.header import StoredTensor
    from tiedviz.verdict.live import Loaded, Measured
    from tiedviz.verdict.witnesses import Comparison, Declared, Stored


class Case:
    """What has been heard; None for a witness that has not."""

    def __init__(
        self,
        declared: Declared | None,
        stored: Stored | None,
        loaded: Loaded | None,
        measured: Measured | None,
    ) -> None:
        self.declared = declared
        self.stored = stored
        self.loaded = loaded
        self.measured = measured

    @property
    def declared_tied(self) -> bool | None:
        """The governing raw flag, else the class default, else what transformers made of it."""
        told = self.declared.tied if self.declared else None
        if told is None and self.loaded:
            return self.loaded.effective
        return told

    @property
    def memory(self) -> Loaded | None:
        """The loaded witness where it can say anything about sharing: it has numbers, and a W."""
        found = self.loaded
        return found if found and not (found.on_meta or found.strange) else None

    @property
    def comparison(self) -> Comparison | None:
        """Of two stored copies."""
        return self.stored.comparison if self.stored else None

    @property
    def two_copies(self) -> bool:
        """Whether the files hold two runs of numbers for E and W."""
        return self.stored is not None and self.stored.two_copies

    @property
    def table(self) -> StoredTensor | None:
        """The one stored matrix, or E of two."""
        return (self.stored.partner or self.stored.head) if self.stored else None

    @property
    def one_table(self) -> bool:
        """Whether the files hold exactly one matrix for E and W."""
        return self.table is not None and not self.two_copies

    @property
    def lone_input(self) -> bool:
        """Whether E is stored and no W at all."""
        return self.stored is not None and not self.stored.head and self.table is not None

    @property
    def lone_output(self) -> bool:
        """Whether W is stored alone, and the file says that E was left out of it."""
        stored = self.stored
        return bool(stored and stored.head and not stored.partner and stored.alias)

    @property
    def has_output(self) -> bool | None:
        """Whether the model has an output over tokens; None where nobody knows."""
        if self.loaded:
            return self.loaded.has_head
        if self.stored and self.stored.head:
            return True
        if self.stored and self.stored.one_way:
            return False
        return self.declared.scores if self.declared else None

    @property
    def shared_in_memory(self) -> bool:
        """Whether E and W are one matrix in the live model."""
        return self.memory is not None and self.memory.same_storage

    @property
    def scored_by(self) -> str:
        """The matrix the logits were seen to come from: "E", "W", "neither", "" unknown."""
        return self.measured.scored_by if self.measured else ""

    @property
    def tie_groups(self) -> tuple[tuple[str, ...], ...]:
        """Names of the same numbers: in memory where heard, else inside a .bin file."""
        if self.loaded:
            return self.loaded.groups
        if self.stored and self.stored.shares_storage and self.stored.head and self.table:
            return ((self.table.name, self.stored.head.name),)
        return ()

    @property
    def other_group(self) -> tuple[str, ...]:
        """A tie of E or of W with further tables, as of encoder and decoder, where W is not E."""
        if self.memory is None or self.memory.same_storage:
            return ()
        sides = {self.memory.embedding_name, self.memory.head_name}
        return next((group for group in self.memory.groups if sides & set(group)), ())
