"""Which rows of E can be points, by name, and what holds for them whatever the view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from tiedviz.models.loaded import LoadedModel
from tiedviz.words.token_kinds import TokenKind, kind_of

# Rows taken at a time: 21 MB at width 640, small enough for the cache of a large processor and
# large enough that products run at full speed.
_BLOCK = 8192


_CODE = {kind: code for code, kind in enumerate(TokenKind)}


@dataclass(frozen=True)
class MapRows:
    """What is known of each row before anything is drawn.

    Attributes:
        norms: (V,) float32, ‖e‖; not finite where the row is not.
        finite: (V,) whether every number of the row is finite.
        with_token: (V,) whether a token uses the row.
    """

    norms: np.ndarray
    finite: np.ndarray
    with_token: np.ndarray

    @property
    def usable(self) -> np.ndarray:
        """(V,) rows that are finite and belong to a token."""
        return self.finite & self.with_token

    @property
    def zero(self) -> np.ndarray:
        """(V,) finite rows of length 0, which have no direction."""
        return self.finite & (self.norms == 0)


def map_rows(matrix: torch.Tensor, with_token: np.ndarray | None = None) -> MapRows:
    """Look at every row once.

    Args:
        matrix: E, (V, d), any floating dtype.
        with_token: (V,) whether a token uses the row; None where all are used.
    """
    norms = np.concatenate([np.linalg.norm(block, axis=1) for _, block in blocks(matrix)])
    finite = np.isfinite(norms)
    for row in np.flatnonzero(~finite):  # a finite row can be too long for a float32
        finite[row] = bool(torch.isfinite(matrix[row]).all())
        if finite[row]:
            norms[row] = np.finfo(np.float32).max
    every = np.ones(len(norms), bool) if with_token is None else np.asarray(with_token, bool)
    return MapRows(norms, finite, every)


@dataclass(frozen=True)
class NamedRows:
    """The rows of E with their names.

    Attributes:
        tokens: one row for each row of E, in order: id, text (as printed), kind (of `TokenKind`,
            categorical in its order).
        rows: which of them are finite, and how long they are.
    """

    tokens: pd.DataFrame
    rows: MapRows


def named_rows(loaded: LoadedModel) -> NamedRows:
    """Name and measure every row of E."""
    vocabulary = loaded.vocabulary
    ids = range(loaded.embedding.shape[0])
    with loaded.lock:
        tokens = vocabulary.tokens(list(ids))
    kinds = [kind_of(token, vocabulary.alphabet) for token in tokens]
    frame = pd.DataFrame(
        {
            "id": ids,
            "text": [token.shown for token in tokens],
            "kind": pd.Categorical.from_codes(
                [_CODE[kind] for kind in kinds], categories=[kind.value for kind in TokenKind]
            ),
        }
    )
    with_token = np.array([kind is not TokenKind.NO_TOKEN for kind in kinds], bool)
    return NamedRows(frame, map_rows(loaded.embedding, with_token))


def blocks(matrix: torch.Tensor) -> Iterator[tuple[int, np.ndarray]]:
    """The rows in order, (first, block): blocks are float32 and views where E is float32 here."""
    for first in range(0, len(matrix), _BLOCK):
        block = matrix.detach()[first : first + _BLOCK]
        yield first, block.cpu().float().numpy()


def slice_of(chosen: np.ndarray) -> slice | None:
    """The chosen rows as a slice, where they are one stretch."""
    ids = np.flatnonzero(chosen)
    if len(ids) and ids[-1] - ids[0] + 1 == len(ids):
        return slice(int(ids[0]), int(ids[-1]) + 1)
    return None


@dataclass(frozen=True)
class RowStatistics:
    """Numbers about all usable rows, whatever the view.

    Attributes:
        cosine: the mean cosine of two different rows.
        centred_cosine: the same after the mean row was taken off each.
        mean_length: ‖mean row‖.
        median_norm: the median of ‖e‖.
        mean_norm: its mean.
        least_norm: the shortest row.
        largest_norm: the longest row.
        duplicates: groups of ids whose rows hold the same numbers, the largest first.
    """

    cosine: float
    centred_cosine: float
    mean_length: float
    median_norm: float
    mean_norm: float
    least_norm: float
    largest_norm: float
    duplicates: tuple[np.ndarray, ...]


def row_statistics(matrix: torch.Tensor, rows: MapRows) -> RowStatistics:
    """Measure all usable rows; NaN where there are none, or for a cosine fewer than two."""
    usable, norms = rows.usable, rows.norms
    count = max(1, int(usable.sum()))
    total = np.zeros(matrix.shape[1])
    for first, block in blocks(matrix):
        total += block[usable[first : first + len(block)]].sum(axis=0, dtype=np.float64)
    mean = total / count
    used = norms[usable].astype(np.float64) if usable.any() else np.array([np.nan])
    return RowStatistics(
        cosine=_mean_cosine(matrix, usable, np.zeros_like(mean)),
        centred_cosine=_mean_cosine(matrix, usable, mean),
        mean_length=float(np.linalg.norm(mean)),
        median_norm=float(np.median(used)),
        mean_norm=float(used.mean()),
        least_norm=float(used.min()),
        largest_norm=float(used.max()),
        duplicates=tuple(duplicate_rows(matrix, rows)),
    )


def _mean_cosine(matrix: torch.Tensor, usable: np.ndarray, origin: np.ndarray) -> float:
    """Over all pairs of different usable rows that have a direction once `origin` is taken off.

    It needs no pairs: with u the n rows divided by their lengths, ‖Σu‖² is the sum of all cosines,
    n of them those of a row with itself, so that the mean is (‖Σu‖² − n) / n(n − 1).
    """
    total, count = np.zeros(len(origin)), 0
    for first, block in blocks(matrix):
        taken = block[usable[first : first + len(block)]] - origin.astype(np.float32)
        lengths = np.linalg.norm(taken, axis=1)
        pointing = lengths > 0
        units = taken[pointing] / lengths[pointing, None]
        total += units.sum(axis=0, dtype=np.float64)
        count += int(pointing.sum())
    if count < 2:
        return float("nan")
    return float((total @ total - count) / (count * (count - 1)))


def duplicate_rows(matrix: torch.Tensor, rows: MapRows) -> list[np.ndarray]:
    """Groups of ids with equal finite rows, largest group first; zero rows are a group as well.

    Rows are told apart by a hash: the sum, modulo 2⁶⁴, of the bits of each number times an odd
    number drawn for its column. Rows with equal sums are then compared number by number.
    """
    generator = np.random.default_rng(0)
    factors = generator.integers(1, 2**62, matrix.shape[1], dtype=np.int64) | 1
    marks = np.empty(len(matrix), np.int64)
    for first, block in blocks(matrix):
        bits = (np.ascontiguousarray(block) + np.float32(0)).view(np.int32)  # −0 counts as 0
        with np.errstate(over="ignore"):
            marks[first : first + len(block)] = bits.astype(np.int64) @ factors
    ids = np.flatnonzero(rows.finite)
    _, group, sizes = np.unique(marks[ids], return_inverse=True, return_counts=True)
    groups = []
    for each in np.flatnonzero(sizes > 1):
        groups += _truly_equal(matrix, ids[group == each])
    return sorted(groups, key=lambda found: (-len(found), int(found[0])))


def _truly_equal(matrix: torch.Tensor, ids: np.ndarray) -> list[np.ndarray]:
    table = matrix.detach()[torch.from_numpy(ids)].cpu().float().numpy()
    _, group = np.unique(table, axis=0, return_inverse=True)
    group = group.reshape(-1)
    found = [ids[group == each] for each in range(int(group.max()) + 1)]
    return [members for members in found if len(members) > 1]
