"""The Hub's client at work in a thread, and whoever waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from tiedviz.models.fetched import Fetched
from tiedviz.models.hub.address import patience

T = TypeVar("T")

# How often whoever waits gets to look up (and to stop), in seconds.
_BEAT = 0.3
# For how many seconds nothing may come until that is said.
_SILENCE = 3.0


class StoodStill(Exception):
    """Nothing came for as long as anybody should wait.

    Attributes:
        seconds: how long that was.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def watched(work: Callable[[], T], fetched: Fetched) -> T:
    """What `work` returns, or raises. It tells `fetched` of every byte that comes.

    The client repeats its own timeout five times before anybody hears of it. Here the one who
    waits says meanwhile for how long nothing has come, may stop, and gives up once and for all. A
    client that was left ends at the next byte, or when its own patience ends.

    Raises:
        StoodStill: nothing came for `patience()` seconds.
    """
    result: Future[T] = Future()
    threading.Thread(target=_run, args=(work, result), name="fetch", daemon=True).start()
    limit = patience()
    try:
        while not wait([result], _BEAT).done:
            if (silence := fetched.silence) >= limit:
                raise StoodStill(silence)
            if silence < _SILENCE:
                fetched.tell()
            else:
                fetched.tell(f"Nothing came for {silence:.0f} s (given up after {limit:.0f} s)")
        return result.result()
    except BaseException:
        fetched.abandon()
        raise


def _run(work: Callable[[], T], result: Future[T]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:  # it is raised again where somebody waits
        result.set_exception(error)
