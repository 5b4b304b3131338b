"""All logits of many states, gone through once in blocks of the vocabulary and never kept."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tiedviz.compute.lens_tally import Mass, Ranks, Top
from tiedviz.compute.unembedding.after_head import AfterHead
from tiedviz.compute.unembedding.tolerance import worst

# Numbers in one block of logits. On 228 states of width 640 the processor time, over that of the
# bare product in the same blocks, was 1.78 with 2¹⁸ numbers, 1.44 with 2¹⁹, 1.33 with 2²¹.
_BLOCK = 1 << 21
_NARROWEST = 256
_FEWEST_BLOCKS = 24  # so that two blocks are a small part of the whole table of any model


@dataclass(frozen=True)
class Streamed:
    """What is left of the logits of n states.

    Attributes:
        ids: (n, k), the largest first.
        logits: (n, k), theirs.
        log_total: (n,) float64, log Σ exp over the whole vocabulary.
        entropy: (n,) float64, of the softmax, in nats.
        tracked_logits: (n, T), of the tokens that were asked for.
        tracked_ranks: (n, T), theirs among the whole vocabulary, 1 is the largest logit.
        max_abs_error: the largest difference between logits computed here and given ones.
    """

    ids: torch.Tensor
    logits: torch.Tensor
    log_total: torch.Tensor
    entropy: torch.Tensor
    tracked_logits: torch.Tensor
    tracked_ranks: torch.Tensor
    max_abs_error: float


def block_width(states: int, rows: int) -> int:
    """How many rows of the matrix to take at a time."""
    wide = min(_BLOCK // max(states, 1), rows // _FEWEST_BLOCKS)
    return min(rows, max(_NARROWEST, wide))


def stream(
    h: torch.Tensor,
    matrix: torch.Tensor,
    after: AfterHead,
    tracked: torch.Tensor,
    *,
    own: torch.Tensor | None = None,
    top: int = 10,
    width: int | None = None,
) -> Streamed:
    """Go through logits = after(h·Wᵀ) once.

    Args:
        h: (n, d) float32, on the CPU, where everything is done.
        matrix: W, (V, d), in whatever dtype and wherever it is held.
        after: what the model does to the product.
        tracked: (n, T) ids whose logits and ranks are wanted, for each state its own.
        own: (m, V), the model's own logits of the last m states: they are kept in place of those
            computed here, and compared with them.
        top: how many largest to keep.
        width: rows of the matrix at a time; None for what is fast.
    """
    states, rows = len(h), len(matrix)
    width = width or block_width(states, rows)
    tracked_logits = _logits_of(h, matrix, after, tracked, own)
    best, mass, ranks = Top(states, top), Mass(states), Ranks(tracked_logits, tracked)
    product, spare = torch.empty(states * width), torch.empty(states * width)
    errors = [0.0]
    for first in range(0, rows, width):
        block = matrix[first : first + width].detach().float().cpu()
        shape = (states, len(block))
        target = product[: shape[0] * shape[1]].view(shape)
        logits = after(torch.mm(h, block.T, out=target), _columns(first, len(block)))
        errors.append(_put_own(logits, own, first))
        over = spare[: target.numel()].view(shape)
        ranks.add(logits, first, over)
        best.add(logits, first)
        mass.add(logits, over)
    return Streamed(
        ids=best.ids,
        logits=best.values,
        log_total=mass.log_total,
        entropy=mass.entropy,
        tracked_logits=tracked_logits,
        tracked_ranks=ranks.ranks,
        max_abs_error=worst(errors),
    )


def _columns(first: int, width: int) -> torch.Tensor:
    return torch.arange(first, first + width)


def _put_own(logits: torch.Tensor, own: torch.Tensor | None, first: int) -> float:
    """Put the model's own logits in their place; how far those computed here were off."""
    if own is None:
        return 0.0
    mine = logits[len(logits) - len(own) :]
    theirs = own[:, first : first + logits.shape[1]].float()
    error = float((mine - theirs).abs().max())
    mine.copy_(theirs)
    return error


def _logits_of(
    h: torch.Tensor,
    matrix: torch.Tensor,
    after: AfterHead,
    tracked: torch.Tensor,
    own: torch.Tensor | None,
) -> torch.Tensor:
    """(n, T) logits of a few tokens of each state."""
    ids, place = tracked.unique(return_inverse=True)
    every = after(h @ matrix[ids].detach().float().cpu().T, ids)
    logits = every.gather(1, place)
    if own is not None:
        logits[len(h) - len(own) :] = own.gather(1, tracked[len(h) - len(own) :]).float()
    return logits
