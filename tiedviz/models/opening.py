"""A model being opened in the background, so that no page waits and no rerun starts it again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from tiedviz.models.progress import Report, Step
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.opening import OpeningCancelled, OpeningFailed

_LOG = logging.getLogger(__name__)


class Opening:
    """One model on its way in. Everybody who asks for it looks at the same one.

    Attributes:
        source: what was asked for.
        started: when, on the monotonic clock.
        refusal: why it did not come, once it is known.
    """

    def __init__(self, source: str, work: Callable[[Report], object]) -> None:
        self.source = source
        self.started = time.monotonic()
        self.refusal: Refusal | None = None
        self._step = Step("Starting torch and transformers")  # imported by the first to open
        self._cancelled = threading.Event()
        self._finished = threading.Event()
        thread = threading.Thread(
            target=self._run, args=(work,), name=f"open {source}", daemon=True
        )
        thread.start()

    @property
    def step(self) -> Step:
        """How far it has come."""
        return self._step

    @property
    def seconds(self) -> float:
        """How long it has been under way."""
        return time.monotonic() - self.started

    @property
    def finished(self) -> bool:
        """Whether it has ended, one way or the other."""
        return self._finished.is_set()

    def cancel(self) -> None:
        """Stop at the next step; what is complete by then is kept."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended within `seconds`."""
        return self._finished.wait(seconds)

    def _run(self, work: Callable[[Report], object]) -> None:
        try:
            work(self._take)
        except Refusal as refusal:
            forget_frames(refusal)
            self.refusal = refusal
        except Exception as error:
            # a fault of ours or of a library: the log has the traceback, the page has one line
            _LOG.exception("opening %s failed", self.source)
            forget_frames(error)
            self.refusal = OpeningFailed(self.source, error)
        finally:
            self._finished.set()

    def _take(self, step: Step) -> None:
        if self._cancelled.is_set():
            raise OpeningCancelled(self.source)
        self._step = step


def forget_frames(error: BaseException) -> None:
    """Make an error fit to be kept: its frames, and those of its causes, may hold a whole model."""
    met: BaseException | None = error
    while met is not None:
        met.__traceback__ = None
        met = met.__cause__ or met.__context__
