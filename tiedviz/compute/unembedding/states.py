"""What one forward pass leaves at some positions: r_0 … r_L, what enters the matrix, the logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from tiedviz.compute.forward import first_tensor, forward, hooked


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
