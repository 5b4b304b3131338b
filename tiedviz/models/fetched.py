"""How much of a download has come."""

from __future__ import annotations

import threading

from tiedviz.models.progress import Report, Step


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
