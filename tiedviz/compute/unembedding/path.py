"""The way from the residual stream to the matrix, read off a trace, ready to be replayed.

The blocks are the entries of the module list whose calls end last before the head. The way is
followed backwards: from the head itself, or the module that contains it, to the call whose result
it was given (times one scalar at most), and so on to the last block. Modules beside it, a pooler
say, are no part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tiedviz.compute.forward import first_tensor, hooked
from tiedviz.compute.unembedding.after_head import Factor, NotUnderstood, name_factor
from tiedviz.compute.unembedding.forward_trace import Call, ForwardTrace


class _Reached(Exception):
    """The head was reached; what it was called with is what was wanted."""

    def __init__(self, h: torch.Tensor) -> None:
        self.h = h


_IDLE = (nn.Dropout, nn.Identity)


@dataclass(frozen=True)
class PathStep:
    """One step: a scalar, then a module.

    Attributes:
        name: the module's path in the model.
        module: called on scale · (what the step before gave); None for the step into the head.
        scale: the scalar in front of it.
        holds_head: the module contains the output matrix; what reaches the matrix is h.
        inside: the names of the modules that it calls on the way to h, where it calls any.
    """

    name: str
    module: nn.Module | None
    scale: Factor
    holds_head: bool = False
    inside: tuple[str, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether the module changes nothing while a model answers, so that nobody names it."""
        return isinstance(self.module, _IDLE)


@dataclass(frozen=True)
class ResidualPath:
    """u: from r, a state of the residual stream, to h, what enters the output matrix.

    Attributes:
        blocks: the modules called as blocks, in order; one module may stand there several times.
        stages: the steps of u, in order.
        head: the module of the output matrix.
    """

    blocks: tuple[nn.Module, ...]
    stages: tuple[PathStep, ...]
    head: nn.Module

    def __call__(self, r: torch.Tensor) -> torch.Tensor:
        """The h of residual states r, (n, width) → (n, d). The caller holds the model's lock."""
        x = r[None]
        with torch.inference_mode():
            for stage in self.stages:
                x = x if stage.scale.is_one else x * stage.scale.value
                if stage.holds_head:
                    x = self._up_to_head(stage.module, x)
                elif stage.module is not None:
                    x = _tensor(stage.module(x))
        return x[0]

    def _up_to_head(self, module: nn.Module | None, x: torch.Tensor) -> torch.Tensor:
        """What the head is called with when `module`, which contains it, is called on x."""
        assert module is not None

        def stop(head: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            raise _Reached(_tensor((*args, *kwargs.values())))

        with hooked((self.head, stop, True)):
            try:
                module(x)
            except _Reached as reached:
                return reached.h
        raise NotUnderstood("the output matrix was not reached on the second try")


def _tensor(value: Any) -> torch.Tensor:
    tensor = first_tensor(value)
    if tensor is None:
        raise NotUnderstood("a step towards the output matrix returned no tensor")
    return tensor


def find_head_call(trace: ForwardTrace, head: nn.Module) -> Call:
    """The one call of the output matrix.

    Raises:
        NotUnderstood: it was not called, or not once, or not as wide as the logits.
    """
    calls = trace.of(head)
    if len(calls) != 1:
        raise NotUnderstood(f"the output matrix was called {len(calls)} times, not once")
    [call] = calls
    if call.given is None or call.given.shape[-1] != trace.logits.shape[-1]:
        raise NotUnderstood("the output matrix is not as wide as the logits")
    if call.taken is None or call.taken.dim() != 3:
        raise NotUnderstood("the output matrix is not called with one vector for each position")
    return call


def block_calls(trace: ForwardTrace, model: nn.Module, head_call: Call) -> list[Call]:
    """The calls of the blocks that feed the head, in order.

    Raises:
        NotUnderstood: no module list is called before the head.
    """
    best: list[Call] = []
    for module in model.modules():
        if isinstance(module, nn.ModuleList):
            entries = set(module)
            calls = [call for call in trace.calls if call.module in entries]
            calls = [call for call in calls if call.end < head_call.start]
            if calls and (not best or calls[-1].end > best[-1].end):
                best = calls
    if not best:
        raise NotUnderstood("no list of blocks is called before the output matrix")
    return best


def find_path(
    trace: ForwardTrace, model: nn.Module, head_call: Call, blocks: list[Call]
) -> ResidualPath:
    """The steps from the last block to the head.

    Raises:
        NotUnderstood: what enters the head is not what the last block gave, taken through modules
            and scalars.
    """
    after_blocks = _outermost_after(trace, blocks[-1].end, head_call)
    call = after_blocks.pop()  # the head, or what contains it
    stages: list[PathStep] = []
    while call is not blocks[-1]:
        source, scale = _source(call, [blocks[-1], *after_blocks])
        stages.insert(0, _stage(trace, call, head_call, scale, model))
        call = source
    return ResidualPath(tuple(block.module for block in blocks), tuple(stages), head_call.module)


def _source(call: Call, earlier: list[Call]) -> tuple[Call, float]:
    """The call whose result `call` takes, times one scalar; the last of them if there are several.

    Raises:
        NotUnderstood: there is none, or it takes something else as well.
    """
    for source in reversed(earlier):
        if source.start < call.start and source.given is not None:
            scale = _scale_between(source.given, call.taken)
            if scale is not None and call.others:
                raise NotUnderstood(f"{call.name} takes more than one tensor")
            if scale is not None:
                return source, scale
    raise NotUnderstood("what enters the output matrix does not come from the last block alone")


def _stage(
    trace: ForwardTrace, call: Call, head_call: Call, scale: float, model: nn.Module
) -> PathStep:
    factor = name_factor(scale, model.config, next(head_call.module.parameters()).dtype)
    if call is head_call:
        return PathStep(call.name, None, factor)
    inside = _steps_inside(trace, call, head_call)
    return PathStep(call.name, call.module, factor, call.end > head_call.end, inside)


def _steps_inside(trace: ForwardTrace, call: Call, head_call: Call) -> tuple[str, ...]:
    """The last names of the innermost modules that `call` calls before the head, in order."""
    end = min(call.end, head_call.start)
    within = [each for each in trace.calls if call.start < each.start < end]
    outer = {id(each.parent) for each in within}
    return tuple(
        each.name.rpartition(".")[2]
        for each in within
        if id(each) not in outer and not isinstance(each.module, _IDLE) and each.end < end
    )


def _outermost_after(trace: ForwardTrace, tick: int, head_call: Call) -> list[Call]:
    """Calls that begin after `tick` and up to the head, without those inside another such call."""
    return [
        call
        for call in trace.calls
        if tick < call.start <= head_call.start
        and (call.parent is None or call.parent.start < tick)
    ]


def _scale_between(given: torch.Tensor, taken: torch.Tensor | None) -> float | None:
    """The scalar s with taken = s · given, by least squares; None where there is none."""
    if taken is None or taken.shape != given.shape or not taken.is_floating_point():
        return None
    x, y = (tensor.cpu().double().flatten() for tensor in (given, taken))
    power = float(x @ x)
    if power == 0:
        return None
    scale = float(x @ y) / power
    # some models keep the residual stream in float32 and round it for the matrix
    close = max(1e-5, *(4 * torch.finfo(tensor.dtype).eps for tensor in (given, taken)))
    off = float((y - scale * x).norm())
    return scale if scale != 0 and off <= close * abs(scale) * power**0.5 else None
