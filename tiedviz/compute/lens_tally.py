"""What is kept of the logits of many states while blocks of them come and go."""

from __future__ import annotations

import torch

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
        # at the first block there is nothing to move, and −∞ · 0 is no number
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
