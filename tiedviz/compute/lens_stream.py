"""All logits of many states, gone through once in blocks of the vocabulary and never kept.

`stream` walks over the rows of the matrix; `Top`, `Mass` and `Ranks` are what is kept of the logits
while blocks of them come and go: the largest, their sum, and how many lie above a few tokens'.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tiedviz.compute.unembedding.after_head import AfterHead
from tiedviz.compute.unembedding.product import worst

# The largest of a block are looked for among its groups with the largest maxima only; a group as
# long as this is cheap to take the maximum of and cheap to search.
_GROUP = 64


class Top:
    """The k largest logits of each row so far, and their ids, largest first."""

    def __init__(self, rows: int, k: int) -> None:
        self.values = torch.empty(rows, 0)
        self.ids = torch.empty(rows, 0, dtype=torch.long)
        self._k = k

    def add(self, logits: torch.Tensor, first: int) -> None:
        """Take in a block (rows, B) whose columns are the ids from `first` on."""
        columns = _largest(logits, self._k)
        values = torch.cat([self.values, logits.gather(1, columns)], dim=1)
        ids = torch.cat([self.ids, columns + first], dim=1)
        self.values, order = values.topk(min(self._k, values.shape[1]), dim=1)
        self.ids = ids.gather(1, order)


def _largest(logits: torch.Tensor, k: int) -> torch.Tensor:
    """Columns of the k largest of each row (of all, where there are fewer).

    A group of columns that holds one of them is among the k groups with the largest maxima.
    """
    rows, width = logits.shape
    groups = width // _GROUP
    if groups <= k:
        return logits.topk(min(k, width), dim=1).indices
    whole = groups * _GROUP
    maxima = logits[:, :whole].unflatten(1, (groups, _GROUP)).amax(2)
    chosen = maxima.topk(k, dim=1).indices
    columns = (chosen[:, :, None] * _GROUP + torch.arange(_GROUP)).flatten(1)
    if whole < width:
        columns = torch.cat([columns, torch.arange(whole, width).expand(rows, -1)], dim=1)
    best = logits.gather(1, columns).topk(k, dim=1).indices
    return columns.gather(1, best)


class Mass:
    """log Σ exp of each row so far, and the entropy of its softmax.

    Kept as Σ e^(z−m) and Σ e^(z−m)·(z−m) with m the largest logit so far: near 0 where it counts,
    so that the entropy is not the difference of two large numbers.
    """

    def __init__(self, rows: int) -> None:
        self._largest = torch.full((rows,), -torch.inf, dtype=torch.float64)
        self._sum = torch.zeros(rows, dtype=torch.float64)
        self._weighted = torch.zeros(rows, dtype=torch.float64)

    def add(self, logits: torch.Tensor, spare: torch.Tensor) -> None:
        """Take in a block (rows, B). It is overwritten, and so is `spare` of the same shape."""
        before = self._largest
        self._largest = torch.maximum(before, logits.amax(1).double())
        # From m to m' each term turns into e^(m−m')·e^(z−m), and z−m' is (z−m) + (m−m'): so the sum
        # is shrunk by e^(m−m'), and the weighted one takes (m−m')·sum in before it is shrunk.
        # At the first block there is nothing to move, and −∞ · 0 is no number.
        moved = torch.where(before.isinf(), torch.zeros_like(before), before - self._largest)
        shrunk = moved.exp()
        shifted = logits.sub_(self._largest.float()[:, None])
        weights = torch.exp(shifted, out=spare)
        self._weighted = shrunk * (self._weighted + moved * self._sum)
        self._weighted += torch.linalg.vecdot(weights, shifted).double()
        self._sum = shrunk * self._sum + weights.sum(1).double()

    @property
    def log_total(self) -> torch.Tensor:
        """(rows,) log Σ exp, float64."""
        return self._largest + self._sum.log()

    @property
    def entropy(self) -> torch.Tensor:
        """(rows,) −Σ p·ln p in nats, float64."""
        return (self._sum.log() - self._weighted / self._sum).clamp_min(0)


class Ranks:
    """How many logits of each row lie above those of a few tokens, counted so far."""

    def __init__(self, logits: torch.Tensor, ids: torch.Tensor) -> None:
        """Begin with nothing counted; `logits` and `ids` are those of the tokens, (rows, T)."""
        self._logits = logits
        self._ids = ids
        self._above = torch.zeros_like(ids)

    def add(self, logits: torch.Tensor, first: int, spare: torch.Tensor) -> None:
        """Take in a block (rows, B) of the ids from `first` on; `spare`, its like, is overwritten.

        A token's own logit in the block may differ in the last bit from the one it is ranked by,
        which came out of a smaller product; it is put in its place: nothing outranks itself.
        """
        width = logits.shape[1]
        local = self._ids - first
        here = (local >= 0) & (local < width)
        row, token = here.nonzero(as_tuple=True)
        logits[row, local[row, token]] = self._logits[row, token]
        for token_at in range(self._ids.shape[1]):
            limit = self._logits[:, token_at, None]
            # as numbers: adding up booleans takes five times as long
            self._above[:, token_at] += torch.gt(logits, limit, out=spare).sum(1).long()

    @property
    def ranks(self) -> torch.Tensor:
        """(rows, T), 1 for a token that no logit lies above."""
        return self._above + 1


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
