"""Does a quantised output layer hold E, up to one step of its own grid?"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

_BLOCK = 4096  # rows


def equals_quantised(embedding: torch.Tensor | None, layer: nn.Module) -> bool:
    """Whether torch's own quantised layer holds `embedding` within one step for each number.

    Other libraries' layers cannot be read here, and give False.
    """
    method: Any = getattr(layer, "weight", None)
    if embedding is None or embedding.is_meta or not callable(method):
        return False
    packed = method()
    if not isinstance(packed, torch.Tensor) or not packed.is_quantized:
        return False
    if packed.shape != embedding.shape:
        return False
    steps = _steps(packed)
    numbers = packed.dequantize()
    return all(
        _within(embedding[start : start + _BLOCK], numbers[start : start + _BLOCK], steps[start:])
        for start in range(0, len(embedding), _BLOCK)
    )


def _steps(packed: torch.Tensor) -> torch.Tensor:
    """One step for each row, (V, 1)."""
    if packed.qscheme() in (torch.per_channel_affine, torch.per_channel_symmetric):
        return packed.q_per_channel_scales().float()[:, None]
    return torch.full((len(packed), 1), packed.q_scale())


def _within(one: torch.Tensor, other: torch.Tensor, steps: torch.Tensor) -> bool:
    return bool(((one.detach().float() - other).abs() <= steps[: len(one)] * 1.001).all())
