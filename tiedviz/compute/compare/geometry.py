"""The shape of a table of rows, in numbers that need no common width: lengths, angles, neighbours.

Each model is measured by itself, over texts that all of those compared have a token for, so that
it may be gone again before the next is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tiedviz.compute.anchors import ANCHORS, half_interval, nearest_rows, shared_part

_PAIRS = 20_000


@dataclass(frozen=True)
class Geometry:
    """One table, measured.

    Attributes:
        rows: shared texts it was measured over.
        norm: mean length of their rows.
        norm_spread: its standard deviation.
        cosine: mean cosine of random pairs of them.
        cosine_margin: half the 95 % interval of that mean.
        cosine_centred: the same after the mean row is subtracted.
        anchors: (A,) the texts whose neighbours were looked for, by number.
        nearest: (A, k) int32, the k nearest texts of each by cosine, without itself.
    """

    rows: int
    norm: float
    norm_spread: float
    cosine: float
    cosine_margin: float
    cosine_centred: float
    anchors: np.ndarray
    nearest: np.ndarray


def geometry(
    table: torch.Tensor,
    rows: np.ndarray,
    *,
    seed: int = 0,
    pause: Callable[[], Any] = lambda: None,
) -> Geometry:
    """Measure a table over some of its rows, at least three.

    Args:
        table: (V, d).
        rows: (n,) which row stands for each shared text.
        seed: of the anchors and the pairs, which are the same for every table with the same n.
        pause: called between blocks; may raise to stop.

    Raises:
        ValueError: fewer than three rows.
    """
    if len(rows) < 3:
        raise ValueError(f"{len(rows)} rows have no geometry; at least 3")
    drawn = np.random.default_rng(seed)
    pairs = _pairs(len(rows), drawn)
    anchors = np.sort(drawn.permutation(len(rows))[:ANCHORS])
    with torch.inference_mode():
        chosen = table.detach()[torch.from_numpy(rows)].float().cpu()
        norms = chosen.norm(dim=1)
        raw = _cosines(chosen, pairs, torch.zeros(chosen.shape[1]))
        centred = _cosines(chosen, pairs, chosen.mean(0))
        unit = chosen.div_(norms.clamp_min(1e-12)[:, None])
        nearest = nearest_rows(unit, torch.from_numpy(anchors), pause)
    return Geometry(
        rows=len(rows),
        norm=float(norms.mean()),
        norm_spread=float(norms.std()),
        cosine=float(raw.mean()),
        cosine_margin=half_interval(raw.numpy()),
        cosine_centred=float(centred.mean()),
        anchors=anchors,
        nearest=nearest,
    )


def _pairs(count: int, drawn: np.random.Generator) -> np.ndarray:
    """(2, P) of different rows: all pairs where there are few, else so many drawn."""
    if count * (count - 1) // 2 <= _PAIRS:
        return np.stack(np.triu_indices(count, 1))
    one = drawn.integers(0, count, _PAIRS)
    return np.stack([one, (one + drawn.integers(1, count, _PAIRS)) % count])


def _cosines(matrix: torch.Tensor, pairs: np.ndarray, minus: torch.Tensor) -> torch.Tensor:
    """(P,) float64 of the pairs, `minus` taken off every row; a few pairs at a time."""
    found = []
    for some in torch.from_numpy(pairs).split(1000, dim=1):
        one, other = ((matrix[side] - minus).double() for side in some)
        found.append(torch.nn.functional.cosine_similarity(one, other, dim=1))
    return torch.cat(found)


@dataclass(frozen=True)
class Overlap:
    """How many of the nearest neighbours two tables share.

    Attributes:
        share: mean part of the nearest that both name.
        margin: half the 95 % interval of that mean.
        by_chance: what two tables without anything in common would share.
        anchors: texts it was taken over.
        neighbours: how many of each.
    """

    share: float
    margin: float
    by_chance: float
    anchors: int
    neighbours: int


def neighbours_shared(one: Geometry, other: Geometry) -> Overlap:
    """How many neighbours two tables share.

    Raises:
        ValueError: they were not measured over the same texts.
    """
    if one.rows != other.rows or not np.array_equal(one.anchors, other.anchors):
        raise ValueError(f"measured over {one.rows} texts and over {other.rows}")
    same, count = shared_part(one.nearest, other.nearest), one.nearest.shape[1]
    by_chance = count / (one.rows - 1)
    return Overlap(float(same.mean()), half_interval(same), by_chance, len(same), count)


def geometry_record(found: Geometry) -> dict[str, Any]:
    """One table's numbers as plain values ready for JSON."""
    return {
        "rows": found.rows,
        "norm": found.norm,
        "norm_spread": found.norm_spread,
        "mean_cosine": found.cosine,
        "mean_cosine_margin": found.cosine_margin,
        "mean_cosine_centred": found.cosine_centred,
    }


def overlap_record(found: Overlap, names: tuple[str, str]) -> dict[str, Any]:
    """Shared neighbours of two tables as plain values ready for JSON."""
    return {
        "models": list(names),
        "neighbours_shared": found.share,
        "margin": found.margin,
        "by_chance": found.by_chance,
        "anchors": found.anchors,
        "neighbours": found.neighbours,
    }
