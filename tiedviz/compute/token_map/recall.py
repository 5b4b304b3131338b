"""How much of the neighbourhoods a flat picture keeps.

For 2,000 anchors, drawn with a fixed seed, the ten nearest of all rows are found at full width and
in the picture, and the part that is in both is averaged. Rows of E have no two dimensions that hold
more than a few per cent of their variance, so this number is small, and a page has to say so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from tiedviz.compute.anchors import ANCHORS, NEAREST, half_interval
from tiedviz.compute.token_map.rows import MapRows, blocks

# Rows at a time: enough for the product to run at full speed, and few enough that soon many anchors
# find none among them that is nearer than what they have.
_PART = 2048


@dataclass(frozen=True)
class TrueNeighbours:
    """Neighbours at full width.

    Attributes:
        anchors: (A,) rows.
        nearest: (A, k) the k nearest rows of each.
        among: n, how many rows they were found among.
        direction: whether rows were divided by their lengths first.
    """

    anchors: np.ndarray
    nearest: np.ndarray
    among: int
    direction: bool


@dataclass(frozen=True)
class NeighbourRecall:
    """The part of the nearest rows that the picture keeps.

    Attributes:
        share: the mean over the anchors.
        low: the lower end of its 95 % interval; equal to the share where every row is an anchor.
        high: the upper end.
        anchors: how many.
        nearest: how many neighbours of each were looked at.
    """

    share: float
    low: float
    high: float
    anchors: int
    nearest: int


def true_neighbours(
    matrix: torch.Tensor, rows: MapRows, chosen: np.ndarray, *, direction: bool
) -> TrueNeighbours:
    """The ten rows nearest to each anchor, among all chosen rows, at full width.

    Args:
        matrix: E, (V, d).
        rows: what is known of its rows.
        chosen: (V,) which rows count.
        direction: compare directions (as in the unit view) instead of places.
    """
    ids = np.flatnonzero(chosen)
    anchors = np.sort(np.random.default_rng(0).permutation(ids)[:ANCHORS])
    wanted = min(NEAREST, len(ids) - 1)
    table = matrix.detach()[torch.from_numpy(anchors)].cpu().float()
    if direction:
        table = table / torch.from_numpy(rows.norms[anchors])[:, None]
    top = _Nearest(len(anchors), wanted + 1)
    with torch.inference_mode():
        for first, block in blocks(matrix):
            for at in range(0, len(block), _PART):
                part = torch.from_numpy(block[at : at + _PART])
                top.add(_nearness(table, part, rows, first + at, chosen, direction), first + at)
    found = top.ids.numpy()
    nearest = np.stack([_without(found[at], anchors[at], wanted) for at in range(len(anchors))])
    return TrueNeighbours(anchors, nearest, len(ids), direction)


class _Nearest:
    """The k largest scores of each anchor so far, and their rows, largest first."""

    def __init__(self, anchors: int, k: int) -> None:
        self.values = torch.full((anchors, k), -torch.inf)
        self.ids = torch.full((anchors, k), -1)

    def add(self, scores: torch.Tensor, first: int) -> None:
        """Take in scores, (A, B), of the rows from `first` on."""
        live = (scores.amax(dim=1) > self.values[:, -1]).nonzero()[:, 0]
        k = self.values.shape[1]
        best = scores[live].topk(min(k, scores.shape[1]), dim=1)
        values = torch.cat([self.values[live], best.values], dim=1)
        ids = torch.cat([self.ids[live], best.indices + first], dim=1)
        self.values[live], order = values.topk(k, dim=1)
        self.ids[live] = ids.gather(1, order)


def _nearness(
    anchors: torch.Tensor,
    part: torch.Tensor,
    rows: MapRows,
    first: int,
    chosen: np.ndarray,
    direction: bool,
) -> torch.Tensor:
    """(A, B), larger is nearer; what is not chosen is nobody's neighbour.

    Only the order of each anchor's scores counts, so whatever is the same for all b of one anchor a
    is left out, and one product gives the whole block. By direction that is ‖a‖ (already divided
    away). By distance, of ‖a − b‖² = ‖a‖² − 2 a·b + ‖b‖² there stays a·b − ‖b‖²/2: halved and
    negated, so that it is largest where the distance is least.
    """
    at = slice(first, first + len(part))
    norms = torch.from_numpy(rows.norms[at])
    if direction:
        scores = anchors @ (part / norms[:, None]).T
    else:
        scores = torch.addmm(-norms * norms / 2, anchors, part.T)
    if not chosen[at].all():
        scores[:, torch.from_numpy(~chosen[at])] = -torch.inf
    return scores


def _without(found: np.ndarray, anchor: int, wanted: int) -> np.ndarray:
    """The first `wanted` of them but for the anchor itself."""
    return found[found != anchor][:wanted]


def neighbour_recall(
    points: np.ndarray, chosen: np.ndarray, true: TrueNeighbours
) -> NeighbourRecall:
    """Compare with the nearest in the picture.

    Args:
        points: (V, 2).
        chosen: the rows that count, as for `true_neighbours`.
        true: what is near at full width.
    """
    from sklearn.neighbors import KDTree

    ids = np.flatnonzero(chosen)
    wanted = true.nearest.shape[1]
    tree = KDTree(points[ids])
    found = ids[tree.query(points[true.anchors], k=min(wanted + 1, len(ids)))[1]]
    shares = np.array(
        [
            len(np.intersect1d(_without(found[at], anchor, wanted), true.nearest[at])) / wanted
            for at, anchor in enumerate(true.anchors)
        ]
    )
    share, half = float(shares.mean()), 0.0
    if len(shares) < true.among:
        half = half_interval(shares)
    return NeighbourRecall(
        share, max(0.0, share - half), min(1.0, share + half), len(shares), wanted
    )
