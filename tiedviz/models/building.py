"""The one lock under which models are built, and the checks that nothing was left broken.

transformers 5.24 exchanges a method on `PreTrainedModel` itself, and torch's default dtype, while
it builds a model. Two threads that build at once leave tied heads on the meta device, untied, and
spoil every later model of the process. So everything that builds a model, weights or not, happens
inside `building()`, and nowhere else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from transformers import PreTrainedModel

_LOCK = threading.RLock()
_BEAT = 0.3  # seconds
_TIE_WEIGHTS = PreTrainedModel.tie_weights
_DEFAULT_DTYPE = torch.float32


@contextmanager
def building(while_waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the process-wide lock while a model is built; put back what the library exchanged.

    Args:
        while_waiting: called a few times a second while another thread holds the lock; may raise.
    """
    while not _LOCK.acquire(timeout=_BEAT):
        while_waiting()
    try:
        _restore()  # what somebody outside this lock may have left
        yield
    finally:
        _restore()
        _LOCK.release()


def _restore() -> None:
    if PreTrainedModel.tie_weights is not _TIE_WEIGHTS:
        PreTrainedModel.tie_weights = _TIE_WEIGHTS
    if torch.get_default_dtype() is not _DEFAULT_DTYPE:
        torch.set_default_dtype(_DEFAULT_DTYPE)


def intact() -> bool:
    """Whether the library is as it was when this module was first imported."""
    return (
        PreTrainedModel.tie_weights is _TIE_WEIGHTS and torch.get_default_dtype() is _DEFAULT_DTYPE
    )
