"""A forward pass written down: which module was called when, with what, inside which other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tiedviz.compute.forward import first_tensor, forward, hooked


@dataclass
class Call:
    """One call of one module.

    Attributes:
        name: the module's path in the model.
        module: the module.
        taken: the tensor it was called with (its first), or None.
        others: further tensors it was called with; a replay could not make them up.
        start, end: ticks of a clock that counts calls and returns.
        parent: the call inside which it happened.
        given: the first tensor of what it returned.
    """

    name: str
    module: nn.Module
    taken: torch.Tensor | None
    others: int
    start: int
    parent: Call | None
    end: int = -1
    given: torch.Tensor | None = None


@dataclass(frozen=True)
class Recording:
    """All calls of one pass, in the order they began, and the model's output."""

    calls: tuple[Call, ...]
    output: Any

    def of(self, module: nn.Module) -> list[Call]:
        """The calls of one module."""
        return [call for call in self.calls if call.module is module]

    @property
    def logits(self) -> torch.Tensor:
        """The model's own logits for the sequence, (n, V), float32."""
        return self.output.logits[0].float().cpu()

    @property
    def hidden_states(self) -> tuple[torch.Tensor, ...] | None:
        """The model's own list for the side that scores, each (1, n, width); else None."""
        found = getattr(self.output, "decoder_hidden_states", None)
        return found if found is not None else getattr(self.output, "hidden_states", None)


def record(model: nn.Module, ids: Sequence[int]) -> Recording:
    """Run the model once on `ids`, its decoder too where it has one; write every call down."""
    calls: list[Call] = []
    open_calls: list[Call] = []
    clock = iter(range(1 << 62))

    def enter(name: str, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        taken = tensors[0] if tensors else None
        parent = open_calls[-1] if open_calls else None
        call = Call(name, module, taken, len(tensors[1:]), next(clock), parent)
        calls.append(call)
        open_calls.append(call)

    def leave(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        call = open_calls.pop()
        call.end, call.given = next(clock), first_tensor(output)

    hooks: list[tuple[nn.Module, Any, bool]] = []
    for name, module in model.named_modules():
        hooks.append((module, lambda m, a, k, name=name: enter(name, m, a, k), True))
        hooks.append((module, leave, False))
    with hooked(*hooks):
        output = forward(model, ids, decoder_ids=ids, hidden_states=True)
    return Recording(tuple(calls), output)
