"""What one forward pass does: every call of every module, or the states at some positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

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
class ForwardTrace:
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


def trace_forward(model: nn.Module, ids: Sequence[int]) -> ForwardTrace:
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
    return ForwardTrace(tuple(calls), output)


@dataclass(frozen=True)
class States:
    """The states of one pass at P positions.

    Attributes:
        residual: r_0 … r_L, each (P, width), where the blocks are and as they hold it. By what the
            blocks were given and gave, not by the model's own list, which leaves some out (Mamba:
            r_0; all: r_L before its norm). Empty where no blocks were named.
        entering: (P, d) float32 on the CPU, exactly what entered the output matrix.
        logits: (P, V) float32 on the CPU, the model's own.
    """

    residual: list[torch.Tensor]
    entering: torch.Tensor
    logits: torch.Tensor


def catch_states(
    model: PreTrainedModel,
    blocks: Sequence[nn.Module],
    ids: Sequence[int],
    decoder_ids: Sequence[int] | None,
    positions: Sequence[int],
    length: int,
) -> States:
    """Run the model once. The caller holds its lock.

    Args:
        model: the model.
        blocks: what is called as blocks on the way to the matrix; one may stand there several
            times (ALBERT calls one module L times).
        ids: the prompt.
        decoder_ids: what the decoder has written, where there is one.
        positions: the P places wanted, of the sequence that is answered, ascending.
        length: of that sequence.
    """
    residual: list[torch.Tensor] = []
    entering: list[torch.Tensor] = []

    def wanted(value: Any) -> torch.Tensor:
        tensor = first_tensor(value)
        assert tensor is not None
        # a model that was asked for some positions only calls its head on those
        return tensor[0, list(positions)] if tensor.shape[1] == length else tensor[0].clone()

    def before_block(module: nn.Module, args: Any, kwargs: Any) -> None:
        if not residual:
            residual.append(wanted((*args, *kwargs.values())))

    def after_block(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        residual.append(wanted(output))

    def before_head(module: nn.Module, args: Any, kwargs: Any) -> None:
        entering.append(wanted((*args, *kwargs.values())))

    hooks: list[tuple[nn.Module, Callable[..., Any], bool]] = [
        (model.get_output_embeddings(), before_head, True)
    ]
    for block in dict.fromkeys(blocks):
        hooks += [(block, before_block, True), (block, after_block, False)]
    with hooked(*hooks):
        logits = wanted(forward(model, ids, decoder_ids=decoder_ids, keep=positions).logits)
    [h] = entering
    return States(residual, h.float().cpu(), logits.float().cpu())
