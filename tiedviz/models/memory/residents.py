"""The open models of this process: opened in the background, kept within a byte budget."""

from __future__ import annotations

import gc
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

import psutil

from tiedviz.models.opening import Opening
from tiedviz.models.progress import Report
from tiedviz.words.refusals.opening import NotANumberOfBytes, OverBudget

if TYPE_CHECKING:  # a page that asks what is open must not bring torch in
    from tiedviz.models.loaded import LoadedModel

# Of the machine's memory, what open models may take together unless TIEDVIZ_MODEL_MEMORY says.
_SHARE_OF_MACHINE = 0.6
_SETTING = "TIEDVIZ_MODEL_MEMORY"


def memory_budget() -> int:
    """Bytes for all open models: `TIEDVIZ_MODEL_MEMORY`, else a part of the machine's memory.

    Raises:
        NotANumberOfBytes: it is set to something else.
    """
    chosen = os.environ.get(_SETTING)
    if not chosen:
        return int(psutil.virtual_memory().total * _SHARE_OF_MACHINE)
    try:
        return int(float(chosen))
    except (ValueError, OverflowError):
        raise NotANumberOfBytes(_SETTING, chosen) from None


class Residents:
    """Open models by what they were asked for as, the least recently used first to go.

    A model that goes is only let go of: whoever still computes with it keeps it alive until done.
    """

    def __init__(self, load: Callable[..., LoadedModel], budget: int | None = None) -> None:
        self._load = load
        self.budget = memory_budget() if budget is None else budget
        self._models: OrderedDict[str, LoadedModel] = OrderedDict()
        self._openings: dict[str, Opening] = {}
        self._reserved: dict[str, int] = {}
        self._guard = threading.Lock()

    def get(self, source: str) -> LoadedModel | None:
        """The open model asked for as `source`, now the most recently used; else None."""
        with self._guard:
            model = self._models.get(source)
            if model is not None:
                self._models.move_to_end(source)
            return model

    def open(self, source: str) -> Opening:
        """The opening of `source`, begun now unless it is under way."""
        with self._guard:
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
            self._models.pop(source, None)
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
                source, report=report, make_room=lambda needed: self._reserve(source, needed)
            )
            with self._guard:
                self._reserved.pop(source, None)
                self._models[source] = model
                self._openings.pop(source, None)
                self._trim(keep=1)  # others may have come in since room was made
        finally:
            with self._guard:
                self._reserved.pop(source, None)
        gc.collect()
        return model

    def _reserve(self, source: str, needed: int) -> None:
        """Let models go until `needed` more bytes fit; these count as taken until it is in."""
        if needed > self.budget:
            raise OverBudget(source, needed, self.budget)
        with self._guard:
            self._reserved[source] = needed
            self._trim(keep=0)
        gc.collect()

    def _trim(self, keep: int) -> None:
        """Let models go, the least recently used first, until all fit; `keep` of them stay."""
        held = sum(model.nbytes for model in self._models.values())
        taken = sum(self._reserved.values())
        while len(self._models) > keep and held + taken > self.budget:
            _, model = self._models.popitem(last=False)
            held -= model.nbytes
