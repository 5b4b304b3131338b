"""How far a long piece of work has come, told to whoever asked for it."""

from __future__ import annotations

import threading
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


class Fetched:
    """The bytes of a download that came so far, over all its files, told as one step.

    Its threads may tell it at once.
    """

    def __init__(self, total: int, report: Report) -> None:
        self._total, self._report = total, report
        self._finished = self._current = 0
        self._guard = threading.Lock()
        self.tell()

    def reached(self, size: int) -> None:
        """So many bytes of the current file are here."""
        with self._guard:
            self._current = size
        self.tell()

    def more(self, size: int) -> None:
        """So many bytes more of the current file came."""
        with self._guard:
            self._current += size
        self.tell()

    def whole_file(self, size: int | None = None) -> None:
        """The current file is complete: of that size if it is known, else of what came of it."""
        with self._guard:
            self._finished += self._current if size is None else size
            self._current = 0
        self.tell()

    def tell(self) -> None:
        """Report how far it is; not beyond the total, which is what was announced."""
        done = min(self._finished + self._current, self._total)
        self._report(Step("Fetching", done, self._total, "bytes"))
