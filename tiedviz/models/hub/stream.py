"""The bytes of a file on the Hub: taken up again where the connection breaks, and given up in time.

The Hub's own client repeats its timeout five times before anybody hears of it, and throws away
what came. Here a thread reads and whoever wants the bytes looks up a few times a second, so that
they can say how long nothing has come, stop, and give up once and for all.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator

import httpx2 as httpx
from huggingface_hub import get_session
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from tiedviz.models.hub.address import patience

# How often the caller gets to look up (and to stop) while nothing comes, in seconds.
_BEAT = 0.3
# How many blocks may wait to be taken.
_AHEAD = 16
# How often a connection that broke without bringing anything is taken up again.
_TRIES = 3
_PAUSE = 1.0  # seconds before each of them


class StoodStill(Exception):
    """Nothing came for as long as anybody should wait.

    Attributes:
        seconds: how long that was.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def blocks(
    url: str, start: int, size: int, while_silent: Callable[[float], None]
) -> Iterator[bytes]:
    """The bytes of a file from `start` to its end, in blocks as they come.

    Args:
        url: where the file is.
        start: how many bytes are there already.
        size: how many there are in all.
        while_silent: told a few times a second for how many seconds nothing has come; may raise.

    Raises:
        StoodStill: nothing came for `patience()` seconds, however often it was asked again.
        httpx2.HTTPError: the connection broke and could not be taken up, or the Hub says no.
        ValueError: the file there is of another size.
    """
    arriving: queue.Queue[bytes | Exception] = queue.Queue(_AHEAD)
    left = threading.Event()
    threading.Thread(
        target=_read, args=(url, start, size, arriving, left), name="fetch", daemon=True
    ).start()
    limit = patience()
    silent_since = time.monotonic()
    try:
        while start < size:
            try:
                came = arriving.get(timeout=_BEAT)
            except queue.Empty:
                waited = time.monotonic() - silent_since
                if waited >= limit:
                    raise StoodStill(waited) from None
                while_silent(waited)
                continue
            if isinstance(came, Exception):
                raise came
            start += len(came)
            yield came
            silent_since = time.monotonic()
    finally:
        left.set()


def _read(
    url: str,
    at: int,
    size: int,
    arriving: queue.Queue[bytes | Exception],
    left: threading.Event,
) -> None:
    """Put the bytes into `arriving`, over as many connections as that takes, until somebody left.

    A connection on which nothing comes is dropped for a new one; who waits counts the seconds.
    """
    fruitless = 0
    while at < size and not left.is_set():
        before = at
        fault: Exception = httpx.RemoteProtocolError("the body ended early")
        try:
            for block in _body(url, at, size):
                at += len(block)
                if not _put(arriving, block, left):
                    return
        except httpx.TransportError as error:
            fault = error
        except Exception as error:  # the Hub says no, or sends something else
            _put(arriving, error, left)
            return
        fruitless = 0 if at > before else fruitless + 1
        if fruitless > _TRIES and not isinstance(fault, httpx.TimeoutException):
            _put(arriving, fault, left)
            return
        if at < size:
            left.wait(_PAUSE)


def _body(url: str, at: int, size: int) -> Iterator[bytes]:
    """What one connection brings of the bytes from `at` on."""
    headers = build_hf_headers() | {"Range": f"bytes={at}-", "Accept-Encoding": "identity"}
    options = {"headers": headers, "follow_redirects": True, "timeout": patience() / 3}
    with get_session().stream("GET", url, **options) as answer:
        hf_raise_for_status(answer)
        ranged = answer.headers.get("Content-Range", "").rpartition("/")[2]
        whole = ranged if answer.status_code == 206 else answer.headers.get("Content-Length", "")
        if whole.isdigit() and int(whole) != size:
            raise ValueError(f"{whole} bytes, not {size}")
        skip = 0 if answer.status_code == 206 else at
        for block in answer.iter_bytes():
            fresh, skip = block[skip:], max(0, skip - len(block))
            if fresh:
                yield fresh[: size - at]
                at += len(fresh)
                if at >= size:
                    return


def _put(
    arriving: queue.Queue[bytes | Exception], what: bytes | Exception, left: threading.Event
) -> bool:
    """Whether it was taken: not where whoever wanted it has left."""
    while not left.is_set():
        try:
            arriving.put(what, timeout=_BEAT)
            return True
        except queue.Full:
            continue
    return False
