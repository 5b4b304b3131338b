"""Principal components of all rows of E: axes, coordinates, explained variance.

Every row is used, none is sampled. As they are stored, rows are given to scikit-learn
(`PCA(svd_solver="covariance_eigh")`). Divided by their lengths they would be a second matrix as
large as E; there the covariance is summed block by block, products in float32 and the sum in
float64, and its eigenvectors are the axes. The same way serves where some rows between others are
left out, for which scikit-learn would need a copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch

from tiedviz.compute.token_map.rows import MapRows, blocks, slice_of
from tiedviz.compute.token_map.signs import fixed_signs

COMPONENTS = 10
"""How many components have coordinates."""


class View(StrEnum):
    """What is placed on the axes."""

    RAW = "raw"  # rows as stored, measured from the zero vector
    CENTRED = "centred"  # the same, measured from the mean row
    UNIT = "unit"  # rows divided by their lengths, then centred: direction alone


@dataclass(frozen=True)
class Projection:
    """A view of all rows. K is ten, or fewer where E has fewer rows or columns.

    Attributes:
        view: which.
        coordinates: (V, K) float32; NaN for rows that cannot be placed.
        components: (K, d) float32, orthonormal, signs fixed.
        origin: (d,) float32, the point that has coordinates 0.
        spectrum: (min(n, d),) float64, each component's part of the variance, largest first.
        fitted: (V,) the n rows the axes were found from.
    """

    view: View
    coordinates: np.ndarray
    components: np.ndarray
    origin: np.ndarray
    spectrum: np.ndarray
    fitted: np.ndarray

    def place(self, vectors: np.ndarray) -> np.ndarray:
        """(n, K) coordinates of any vectors, (n, d), in this view."""
        moved = np.asarray(vectors, np.float32)
        if self.view is View.UNIT:
            length = np.linalg.norm(moved, axis=1, keepdims=True)
            moved = np.divide(moved, length, where=length > 0, out=np.full_like(moved, np.nan))
        return moved @ self.components.T - self.origin @ self.components.T


def project(matrix: torch.Tensor, rows: MapRows, view: View) -> Projection:
    """Find the axes of a view and place every row on them.

    Args:
        matrix: E, (V, d).
        rows: what `map_rows` said of it. The axes are found from its usable rows; rows without a
            token are placed on them all the same.
        view: which.

    Raises:
        ValueError: fewer than two rows can be used.
    """
    fitted = fitted_rows(rows, view)
    if int(fitted.sum()) < 2:
        raise ValueError(f"{int(fitted.sum())} rows have no principal components")
    components, mean, spectrum = _axes(matrix, rows, fitted, view)
    components = np.ascontiguousarray(components * fixed_signs(components)[:, None], np.float32)
    origin = np.zeros_like(mean) if view is View.RAW else mean
    placed = rows.finite & ~rows.zero if view is View.UNIT else rows.finite
    coordinates = _coordinates(matrix, rows, components, origin, placed, view)
    return Projection(view, coordinates, components, origin, spectrum, fitted)


def fitted_rows(rows: MapRows, view: View) -> np.ndarray:
    """(V,) the rows from which the axes of a view are found: the usable ones; with a direction."""
    return rows.usable & ~rows.zero if view is View.UNIT else rows.usable


def _axes(
    matrix: torch.Tensor, rows: MapRows, fitted: np.ndarray, view: View
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Components (K, d), mean (d,) and spectrum (min(n, d),) of the fitted rows."""
    stretch = slice_of(fitted)
    if view is not View.UNIT and stretch is not None and matrix.dtype is torch.float32:
        return _by_scikit_learn(matrix.detach()[stretch].cpu().numpy())
    mean, covariance = _moments(matrix, rows, fitted, view)
    values, vectors = np.linalg.eigh(covariance)
    most = min(len(covariance), int(fitted.sum()))
    variance = np.clip(values[::-1][:most], 0, None)
    components = vectors[:, ::-1][:, : min(COMPONENTS, most)].T
    return components, mean.astype(np.float32), _parts(variance)


def _by_scikit_learn(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from sklearn.decomposition import PCA

    with np.errstate(invalid="ignore"):  # rows that are all equal have no variance to divide
        found = PCA(svd_solver="covariance_eigh").fit(table)
    return found.components_[:COMPONENTS], found.mean_, _parts(found.explained_variance_)


def _parts(variance: np.ndarray) -> np.ndarray:
    """Each variance as a part of all; zeros where there is none."""
    variance = variance.astype(np.float64)
    total = float(variance.sum())
    return variance / total if total > 0 else np.zeros_like(variance)


def _moments(
    matrix: torch.Tensor, rows: MapRows, fitted: np.ndarray, view: View
) -> tuple[np.ndarray, np.ndarray]:
    """Mean (d,) and covariance (d, d), float64, of the fitted rows."""
    width = matrix.shape[1]
    total, products = np.zeros(width), np.zeros((width, width))
    for first, block in blocks(matrix):
        chosen = fitted[first : first + len(block)]
        taken = block if chosen.all() else block[chosen]
        if view is View.UNIT:
            taken = taken / rows.norms[first : first + len(block)][chosen, None]
        total += taken.sum(axis=0, dtype=np.float64)
        products += taken.T @ taken
    count = int(fitted.sum())
    mean = total / count
    return mean, (products - count * np.outer(mean, mean)) / (count - 1)


def _coordinates(
    matrix: torch.Tensor,
    rows: MapRows,
    components: np.ndarray,
    origin: np.ndarray,
    placed: np.ndarray,
    view: View,
) -> np.ndarray:
    coordinates = np.full((len(matrix), len(components)), np.nan, np.float32)
    shift = origin @ components.T
    for first, block in blocks(matrix):
        chosen = placed[first : first + len(block)]
        at = slice(first, first + len(block))
        with np.errstate(invalid="ignore", over="ignore"):
            products = block @ components.T
        if view is View.UNIT:
            length = np.where(chosen, rows.norms[at], 1)
            products /= length[:, None]
        coordinates[at][chosen] = products[chosen] - shift
    return coordinates
