"""Neighbourhoods compared over anchors: who is nearest, what two share, how sure that mean is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

ANCHORS = 2000
"""Rows whose neighbours are compared: enough for an interval of about one point."""

NEAREST = 10
"""How many neighbours of each are looked at."""

_BLOCK_BYTES = 16_000_000  # of one block of cosines


def nearest_rows(
    unit: torch.Tensor, anchors: torch.Tensor, pause: Callable[[], Any] = lambda: None
) -> np.ndarray:
    """(A, k) int32, the `NEAREST` rows with the largest cosine to each anchor, without itself.

    One block of cosines at a time, never all of them.

    Args:
        unit: (V, d) float32 on the CPU, rows divided by their lengths.
        anchors: (A,) rows.
        pause: called between blocks; may raise to stop.
    """
    count = min(NEAREST, len(unit) - 1)
    step = max(1, _BLOCK_BYTES // (4 * len(unit)))
    room = torch.empty((min(step, len(anchors)), len(unit)))
    found = []
    for block in anchors.split(step):
        pause()
        cosines = torch.mm(unit[block], unit.T, out=room[: len(block)])
        cosines[torch.arange(len(block)), block] = -2  # not itself
        found.append(cosines.topk(count, dim=1).indices.int())
    return torch.cat(found).numpy()


def shared_part(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(A,) the part of the nearest rows of each anchor, (A, k), that both name."""
    return (one[:, :, None] == other[:, None, :]).any(2).mean(1)


def half_interval(drawn: np.ndarray) -> float:
    """Half the 95 % interval of the mean of numbers drawn at random; 0 for a single one."""
    return 1.96 * float(drawn.std(ddof=1)) / math.sqrt(len(drawn)) if len(drawn) > 1 else 0.0
