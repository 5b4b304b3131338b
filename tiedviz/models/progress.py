"""How far a long piece of work has come, told to whoever asked for it."""

from collections.abc import Callable
from typing import NamedTuple


class Step(NamedTuple):
    """One report of progress.

    Attributes:
        stage: what is being done, as a heading: "Fetching", "Converting".
        done: how much of it, in `unit`s.
        total: out of how much, or None where nobody can know.
        unit: "bytes", "tensors", or "" where counting makes no sense.
    """

    stage: str
    done: int = 0
    total: int | None = None
    unit: str = ""

    @property
    def fraction(self) -> float | None:
        """Between 0 and 1, or None where the end is unknown."""
        return min(1.0, self.done / self.total) if self.total else None


Report = Callable[[Step], None]
"""Called with each step. It may raise to stop the work; whatever was half made is thrown away."""


def silent(step: Step) -> None:
    """A report for nobody."""
