"""What one forward pass leaves at some positions: r_0 … r_L, what enters the matrix, the logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from tiedviz.compute.forward import first_tensor, forward, hooked
from tiedviz.compute.unembedding.path import Path


@dataclass
class States:
    """The states of one pass at P positions.

    Attributes:
        residual: r_0 … r_L, each (P, width), by what the blocks were given and gave, not by the
            model's own list, which leaves some out (Mamba: r_0; all: r_L before its norm).
        entering: (P, d), exactly what entered the output matrix.
        logits: (P, V), the model's own.
    """

    residual: list[torch.Tensor] = field(default_factory=list)
    entering: torch.Tensor = field(default_factory=lambda: torch.empty(0))
    logits: torch.Tensor = field(default_factory=lambda: torch.empty(0))


def catch_states(
    model: PreTrainedModel,
    path: Path,
    ids: Sequence[int],
    decoder_ids: Sequence[int] | None,
    positions: Sequence[int],
    length: int,
) -> States:
    """Run the model once. The caller holds its lock.

    Args:
        model: the model.
        path: its way to the matrix; names the blocks.
        ids: the prompt.
        decoder_ids: what the decoder has written, where there is one.
        positions: the P places wanted, of the sequence that is answered.
        length: of that sequence.
    """
    caught = States()

    def wanted(value: Any) -> torch.Tensor:
        tensor = first_tensor(value)
        assert tensor is not None
        # a model that was asked for some positions only calls its head on those
        return tensor[0, list(positions)] if tensor.shape[1] == length else tensor[0].clone()

    def before_block(module: nn.Module, args: Any, kwargs: Any) -> None:
        if not caught.residual:
            caught.residual.append(wanted((*args, *kwargs.values())))

    def after_block(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        caught.residual.append(wanted(output))

    def before_head(module: nn.Module, args: Any, kwargs: Any) -> None:
        caught.entering = wanted((*args, *kwargs.values()))

    hooks: list[tuple[nn.Module, Callable[..., Any], bool]] = [(path.head, before_head, True)]
    for block in dict.fromkeys(path.blocks):  # ALBERT calls one module L times
        hooks += [(block, before_block, True), (block, after_block, False)]
    with hooked(*hooks):
        caught.logits = wanted(forward(model, ids, decoder_ids=decoder_ids, keep=positions).logits)
    return caught
