"""The one lock under which models are built, and the checks that nothing was left broken.

transformers 5.24 exchanges a method on `PreTrainedModel` itself, and torch's default dtype, while
it builds a model. Two threads that build at once leave tied heads on the meta device, untied, and
spoil every later model of the process. So everything that builds a model, weights or not, happens
inside `building()`, and nowhere else.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook
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


@contextmanager
def while_built(check: Callable[[int, int], None]) -> Iterator[None]:
    """Look at what this thread builds on the meta device, one parameter after the other.

    A model is built there first and filled afterwards; what its files lack would be filled with
    random numbers, however much that is.

    Args:
        check: told how many parameters there are so far, tied ones counted at each place, and how
            many numbers in them; what it raises ends the building.
    """
    mine, seen = threading.get_ident(), [0, 0]

    def look(module: Any, name: str, parameter: Any) -> None:
        if threading.get_ident() != mine or parameter is None or not parameter.is_meta:
            return
        seen[0] += 1
        seen[1] += parameter.numel()
        check(*seen)

    handle = register_module_parameter_registration_hook(look)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def quiet_library() -> Iterator[None]:
    """Keep the library's advice about configurations off the command line's output.

    Its logger alone: what other threads have to say about an opening that fails must be heard.
    """
    logger = logging.getLogger("transformers")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


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
