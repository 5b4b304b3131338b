"""The rows nearest to a row, or to any vector: by cosine, by dot product, by distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch

from tiedviz.compute.token_map.rows import MapRows
from tiedviz.compute.unembedding.product import plain_product
from tiedviz.words.refusals.map import RowNotFinite

# Rounding of one product relative to ‖a‖‖b‖: what may make an equal row seem nearer than the row.
_ROUNDING = 1e-6


class Measure(StrEnum):
    """What "near" means."""

    COSINE = "cosine"
    DOT = "dot"
    L2 = "l2"


@dataclass(frozen=True)
class Neighbours:
    """The nearest rows of one vector.

    Attributes:
        by: what they are ordered by.
        ids: (k,) nearest first.
        cosine: (k,) NaN where a row has no direction.
        dot: (k,)
        distance: (k,) Euclidean.
        self_rank: the place of the row itself under each measure, 1 is nearest; empty for a vector
            that is no row.
    """

    by: Measure
    ids: np.ndarray
    cosine: np.ndarray
    dot: np.ndarray
    distance: np.ndarray
    self_rank: dict[Measure, int]


def neighbours_of(
    matrix: torch.Tensor, rows: MapRows, row: int, *, by: Measure = Measure.COSINE, top: int = 10
) -> Neighbours:
    """The rows nearest to a row, itself left out, and its own rank under each measure.

    Args:
        matrix: E, (V, d).
        rows: what is known of its rows. Rows that are not finite or have no token are nobody's
            neighbours.
        row: whose neighbours.
        by: the measure.
        top: how many.

    Raises:
        RowNotFinite: the row holds no finite vector.
    """
    if not rows.finite[row]:
        raise RowNotFinite(f"#{row}", row)
    return _nearest(matrix, rows, matrix.detach()[row], by, top, [row], row)


def neighbours_of_vector(
    matrix: torch.Tensor,
    rows: MapRows,
    vector: torch.Tensor,
    *,
    by: Measure = Measure.COSINE,
    top: int = 10,
    left_out: Sequence[int] = (),
) -> Neighbours:
    """The rows nearest to any vector, (d,), but for those left out."""
    return _nearest(matrix, rows, vector, by, top, left_out, None)


def _nearest(
    matrix: torch.Tensor,
    rows: MapRows,
    vector: torch.Tensor,
    by: Measure,
    top: int,
    left_out: Sequence[int],
    row: int | None,
) -> Neighbours:
    vector = vector.float().cpu()
    scores = _scores(matrix, rows, vector)
    if not rows.usable.all():
        barred = torch.from_numpy(~rows.usable)
        scores = {
            measure: score.masked_fill(barred, -torch.inf) for measure, score in scores.items()
        }
    ranks = {} if row is None else _self_ranks(scores, rows, row)
    wanted = scores[by]
    best = torch.topk(wanted, min(top + len(left_out), len(wanted))).indices
    allowed = [int(id) for id in best if int(id) not in left_out and wanted[id] > -torch.inf]
    return _exact(matrix, rows, vector, by, allowed[:top], ranks)


def _scores(
    matrix: torch.Tensor, rows: MapRows, vector: torch.Tensor
) -> dict[Measure, torch.Tensor]:
    """(V,) each, larger is nearer, all from one product. ‖e − v‖² = ‖e‖² − 2 e·v + ‖v‖²."""
    with torch.inference_mode():
        dot = plain_product(vector, matrix)
        norms = torch.from_numpy(rows.norms)
        cosine = dot / norms
        cosine[norms == 0] = -torch.inf
        return {Measure.COSINE: cosine, Measure.DOT: dot, Measure.L2: 2 * dot - norms * norms}


def _self_ranks(scores: dict[Measure, torch.Tensor], rows: MapRows, row: int) -> dict[Measure, int]:
    """One more than the number of rows that are nearer by more than rounding explains."""
    length = float(rows.norms[row])
    slack = {
        Measure.COSINE: _ROUNDING * length,
        Measure.DOT: _ROUNDING * length * length,
        Measure.L2: 4 * _ROUNDING * length * length,
    }
    return {
        measure: int((score > float(score[row]) + slack[measure]).sum()) + 1
        for measure, score in scores.items()
    }


def _exact(
    matrix: torch.Tensor,
    rows: MapRows,
    vector: torch.Tensor,
    by: Measure,
    ids: list[int],
    ranks: dict[Measure, int],
) -> Neighbours:
    """The three numbers of the few rows found, in float64, and the rows in their order."""
    near = matrix.detach()[ids].cpu().double().numpy()
    own = vector.double().numpy()
    dot = near @ own
    distance = np.linalg.norm(near - own, axis=1)
    lengths = np.linalg.norm(near, axis=1) * np.linalg.norm(own)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.where(lengths > 0, np.clip(dot / lengths, -1, 1), np.nan)
    nearness = {Measure.COSINE: cosine, Measure.DOT: dot, Measure.L2: -distance}[by]
    order = np.argsort(-np.nan_to_num(nearness, nan=-2.0), kind="stable")
    return Neighbours(
        by, np.array(ids, int)[order], cosine[order], dot[order], distance[order], ranks
    )
