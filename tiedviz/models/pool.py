"""The open models of this process: opened in the background, kept within a byte budget."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from tiedviz.models.memory import memory_budget
from tiedviz.models.progress import Report, Stage
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.opening import OpeningRefusal

if TYPE_CHECKING:
    from tiedviz.models.loaded import LoadedModel

# For so many seconds a model that somebody opened and has not read yet does not go for another one:
# they would have to open it again.
_SPARED = 10.0
_BEAT = 0.1  # seconds between two looks whether there is room now


class ModelPool:
    """Open models by what they were asked for as, the least recently used first to go.

    A model that goes is only let go of: whoever still computes with it keeps it alive until done.
    One that has just come in is spared until everybody who asked for it has read it, for a few
    seconds; an opening that needs its room waits so long, and no longer.
    """

    def __init__(self, load: Callable[..., LoadedModel], budget: int | None = None) -> None:
        self._load = load
        self.budget = memory_budget() if budget is None else budget
        self._models: OrderedDict[str, LoadedModel] = OrderedDict()
        self._openings: dict[str, Opening] = {}
        self._reserved: dict[str, int] = {}
        self._arrived: dict[str, float] = {}  # when, on the monotonic clock
        self._unread: dict[str, set[str]] = {}  # by whom
        self._guard = threading.Lock()

    def get(self, source: str, reader: str = "") -> LoadedModel | None:
        """The open model asked for as `source`, now the most recently used; else None.

        Args:
            source: what was asked for.
            reader: who reads it now, as in `open`; nobody in particular where it is empty.
        """
        with self._guard:
            model = self._models.get(source)
            if model is not None:
                self._models.move_to_end(source)
                self._unread[source].discard(reader)
            return model

    def open(self, source: str, reader: str = "") -> Opening:
        """The opening of `source`, begun now unless it is under way.

        Args:
            source: what is asked for.
            reader: who will read it with `get`, by any name of theirs.
        """
        with self._guard:
            self._unread.setdefault(source, set()).add(reader)
            under_way = self._openings.get(source)
            if under_way is None or under_way.finished:
                under_way = Opening(source, lambda report: self._bring_in(source, report))
                self._openings[source] = under_way
            return under_way

    def opening(self, source: str) -> Opening | None:
        """The last opening of `source`, under way or failed; None if it was never begun."""
        with self._guard:
            return self._openings.get(source)

    def forget(self, source: str) -> None:
        """Let the model and the memory of its opening go."""
        with self._guard:
            self._let_go(source)
            self._openings.pop(source, None)
        gc.collect()

    @property
    def nbytes(self) -> int:
        """Bytes of the open models."""
        with self._guard:
            return sum(model.nbytes for model in self._models.values())

    @property
    def names(self) -> list[str]:
        """What is open, the most recently used last."""
        with self._guard:
            return list(self._models)

    def _bring_in(self, source: str, report: Report) -> LoadedModel:
        if (open_already := self.get(source)) is not None:
            return open_already
        try:
            model = self._load(
                source,
                report=report,
                make_room=lambda needed: self._reserve(source, needed, report),
            )
            with self._guard:
                self._reserved.pop(source, None)
                self._models[source] = model
                self._arrived[source] = time.monotonic()
                self._unread.setdefault(source, set())
                self._openings.pop(source, None)
                self._trim(keep=1)  # others may have come in since room was made
        finally:
            with self._guard:
                self._reserved.pop(source, None)
                if source not in self._models:
                    self._let_go(source)
        gc.collect()
        return model

    def _reserve(self, source: str, needed: int, report: Report) -> None:
        """Let models go until `needed` more bytes fit; these count as taken until it is in."""
        if needed > self.budget:
            raise OpeningRefusal.over_budget(source, needed, self.budget)
        until = time.monotonic() + _SPARED
        while not self._make_room(source, needed, spare=time.monotonic() < until):
            report(Stage("Waiting until what was just opened has been read"))
            time.sleep(_BEAT)
        gc.collect()

    def _make_room(self, source: str, needed: int, spare: bool) -> bool:
        """Whether there is room now, and it is taken; where nothing is spared there always is."""
        with self._guard:
            self._reserved[source] = needed
            if self._trim(keep=0, spare=spare):
                return True
            del self._reserved[source]  # who waits takes nothing from others
            return False

    def _trim(self, keep: int, spare: bool = False) -> bool:
        """Let models go until all fit, the least recently used first, those to be spared last.

        Args:
            keep: how many of the most recently used stay.
            spare: whether to stop before those to be spared.

        Returns whether it did not stop there.
        """
        over = sum(model.nbytes for model in self._models.values()) - self.budget
        over += sum(self._reserved.values())
        leaving = list(self._models)[: len(self._models) - keep]
        for name in sorted(leaving, key=self._is_spared):
            if over <= 0:
                break
            if spare and self._is_spared(name):
                return False
            over -= self._models[name].nbytes
            self._let_go(name)
        return True

    def _is_spared(self, source: str) -> bool:
        """Whether somebody who opened it has not read it yet, and had little time to."""
        fresh = time.monotonic() < self._arrived[source] + _SPARED
        return fresh and bool(self._unread[source])

    def _let_go(self, source: str) -> None:
        self._models.pop(source, None)
        self._arrived.pop(source, None)
        self._unread.pop(source, None)


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
        self._stage = Stage("Starting torch and transformers")  # imported by the first to open
        self._cancelled = threading.Event()
        self._finished = threading.Event()
        thread = threading.Thread(
            target=self._run, args=(work,), name=f"open {source}", daemon=True
        )
        thread.start()

    @property
    def stage(self) -> Stage:
        """How far it has come."""
        return self._stage

    @property
    def seconds(self) -> float:
        """How long it has been under way."""
        return time.monotonic() - self.started

    @property
    def finished(self) -> bool:
        """Whether it has ended, one way or the other."""
        return self._finished.is_set()

    def cancel(self) -> None:
        """Stop at the next stage; what is complete by then is kept."""
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
            self.refusal = OpeningRefusal.failed(self.source, error)
        finally:
            self._finished.set()

    def _take(self, stage: Stage) -> None:
        if self._cancelled.is_set():
            raise OpeningRefusal.cancelled(self.source)
        self._stage = stage


def forget_frames(error: BaseException) -> None:
    """Make an error fit to be kept: its frames, and those of its causes, may hold a whole model."""
    met: BaseException | None = error
    while met is not None:
        met.__traceback__ = None
        met = met.__cause__ or met.__context__
