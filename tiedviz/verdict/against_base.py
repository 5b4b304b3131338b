"""A matrix compared with the one it was made from: which rows moved, and which are new."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch

_BLOCK = 8192


@dataclass(frozen=True)
class AgainstBase:
    """What became of the base's rows.

    Attributes:
        unchanged: rows that hold the same numbers; what is no number in both is the same.
        changed: rows that differ.
        added: rows beyond the base's last.
        removed: rows of the base that are gone.
        moved: the rows that moved most, one row each: row, distance, relative (distance over the
            base row's length), cosine with the base's row; first those for which there are no such
            numbers, since one of the two rows is not finite.
    """

    unchanged: int
    changed: int
    added: int
    removed: int
    moved: pd.DataFrame

    @property
    def identical(self) -> bool:
        """Whether every row of the base is there, unchanged, and nothing else."""
        return not (self.changed or self.added or self.removed)


def against_base(now: torch.Tensor, base: torch.Tensor, *, top: int = 20) -> AgainstBase:
    """Compare `now` with `base`, both (rows, d), in float32.

    Raises:
        ValueError: their widths differ.
    """
    if now.shape[1] != base.shape[1]:
        raise ValueError(f"widths differ: {now.shape[1]} and {base.shape[1]}")
    rows = min(len(now), len(base))
    distances, equal = [], 0
    for start in range(0, rows, _BLOCK):
        mine = now[start : min(start + _BLOCK, rows)].detach().float()
        theirs = base[start : min(start + _BLOCK, rows)].detach().float()
        same = ((mine == theirs) | (mine.isnan() & theirs.isnan())).all(1)
        equal += int(same.sum())
        distances.append((mine - theirs).norm(dim=1).masked_fill(same, 0))
    distance = torch.cat(distances)
    most = distance.topk(min(top, rows))
    kept = most.indices[most.values != 0]
    mine, theirs = now[kept].detach().float(), base[kept].detach().float()
    moved = pd.DataFrame(
        {
            "row": kept.tolist(),
            "distance": distance[kept].tolist(),
            "relative": (distance[kept] / theirs.norm(dim=1).clamp_min(1e-12)).tolist(),
            "cosine": torch.cosine_similarity(mine, theirs).tolist(),
        }
    )
    return AgainstBase(
        equal, rows - equal, max(0, len(now) - rows), max(0, len(base) - rows), moved
    )
