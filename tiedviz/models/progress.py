"""How far a long piece of work has come, such as a download, told to whoever asked for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple


class Stage(NamedTuple):
    """One report of progress.

    Attributes:
        name: what is being done, as a heading: "Fetching", "Converting".
        done: how much of it, in `unit`s.
        total: out of how much, or None where nobody can know.
        unit: "bytes", "tensors", or "" where counting makes no sense.
    """

    name: str
    done: int = 0
    total: int | None = None
    unit: str = ""

    @property
    def fraction(self) -> float | None:
        """Between 0 and 1, or None where the end is unknown."""
        return min(1.0, self.done / self.total) if self.total else None


Report = Callable[[Stage], None]
"""Called with each stage. It may raise to stop the work; whatever was half made is thrown away."""


def silent(stage: Stage) -> None:
    """A report for nobody."""


class Abandoned(Exception):
    """Whoever wanted the bytes has left."""


class Fetched:
    """The bytes of a download that came so far, over all its files, told as one stage.

    Several threads may count at once.
    """

    def __init__(self, total: int, report: Report) -> None:
        self._total, self._report = total, report
        self._finished = self._current = 0
        self._guard = threading.Lock()
        self._last = time.monotonic()
        self._left = False
        self.tell()

    @property
    def silence(self) -> float:
        """For how many seconds nothing has come."""
        return time.monotonic() - self._last

    def reached(self, size: int) -> None:
        """So many bytes of the current file are here."""
        with self._guard:
            self._current, self._last = size, time.monotonic()
        self.tell()

    def more(self, size: int) -> None:
        """So many bytes more of the current file came; not told yet.

        Raises:
            Abandoned: nobody wants them any more.
        """
        with self._guard:
            if self._left:
                raise Abandoned
            self._current, self._last = self._current + size, time.monotonic()

    def whole_file(self, size: int | None = None) -> None:
        """The current file is complete: of that size if it is known, else of what came of it."""
        with self._guard:
            self._finished += self._current if size is None else size
            self._current, self._last = 0, time.monotonic()
        self.tell()

    def abandon(self) -> None:
        """Whoever counts is stopped the next time."""
        with self._guard:
            self._left = True

    def tell(self, name: str = "Fetching") -> None:
        """Report how far it is; not beyond the total, which is what was announced."""
        done = min(self._finished + self._current, self._total)
        self._report(Stage(name, done, self._total, "bytes"))
