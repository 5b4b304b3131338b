"""How much of a download has come."""

from __future__ import annotations

import threading
import time

from tiedviz.models.progress import Report, Step


class Abandoned(Exception):
    """Whoever wanted the bytes has left."""


class Fetched:
    """The bytes of a download that came so far, over all its files, told as one step.

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

    def tell(self, stage: str = "Fetching") -> None:
        """Report how far it is; not beyond the total, which is what was announced."""
        done = min(self._finished + self._current, self._total)
        self._report(Step(stage, done, self._total, "bytes"))
