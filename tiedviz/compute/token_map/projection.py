"""Principal components of all rows of E: axes, coordinates, variance, and what is drawn first.

The one place of the PCA solver. Every row is used, none is sampled. As they are stored, rows are
given to scikit-learn (`PCA(svd_solver="covariance_eigh")`). Divided by their lengths they
would be a second matrix as large as E; there the covariance is summed block by block, products in
float32 and the sum in float64, and its eigenvectors are the axes. The same way serves where some
rows between others are left out, for which scikit-learn would need a copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd
import torch

from tiedviz.compute.token_map.rows import MapRows, NamedRows, blocks, slice_of
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.vector import VectorRefusal

COMPONENTS = 10
"""How many components have coordinates."""

_SYMMETRICAL = 1e-3
_LARGE = 0.5  # of the largest entry of a component

_LOW, _HIGH = 0.1, 99.9  # per cent of the points on each axis
_REACH = 0.5  # of that span: an extreme point this near is drawn as well
_FEW = 20  # this many points have no percentiles worth the name


class MapView(StrEnum):
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

    view: MapView
    coordinates: np.ndarray
    components: np.ndarray
    origin: np.ndarray
    spectrum: np.ndarray
    fitted: np.ndarray

    def place(self, vectors: np.ndarray) -> np.ndarray:
        """(n, K) coordinates of any vectors, (n, d), in this view."""
        moved = np.asarray(vectors, np.float32)
        if self.view is MapView.UNIT:
            length = np.linalg.norm(moved, axis=1, keepdims=True)
            moved = np.divide(moved, length, where=length > 0, out=np.full_like(moved, np.nan))
        return moved @ self.components.T - self.origin @ self.components.T


def project(matrix: torch.Tensor, rows: MapRows, view: MapView) -> Projection:
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
    origin = np.zeros_like(mean) if view is MapView.RAW else mean
    placed = rows.finite & ~rows.zero if view is MapView.UNIT else rows.finite
    coordinates = _coordinates(matrix, rows, components, origin, placed, view)
    return Projection(view, coordinates, components, origin, spectrum, fitted)


def fitted_rows(rows: MapRows, view: MapView) -> np.ndarray:
    """(V,) the rows from which the axes of a view are found: the usable ones; with a direction."""
    return rows.usable & ~rows.zero if view is MapView.UNIT else rows.usable


def _axes(
    matrix: torch.Tensor, rows: MapRows, fitted: np.ndarray, view: MapView
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Components (K, d), mean (d,) and spectrum (min(n, d),) of the fitted rows."""
    stretch = slice_of(fitted)
    if view is not MapView.UNIT and stretch is not None and matrix.dtype is torch.float32:
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
    matrix: torch.Tensor, rows: MapRows, fitted: np.ndarray, view: MapView
) -> tuple[np.ndarray, np.ndarray]:
    """Mean (d,) and covariance (d, d), float64, of the fitted rows, in one pass over E.

    With n rows x and their mean m, Σ(x − m)(x − m)ᵀ = Σxxᵀ − n·mmᵀ, so that no centred copy of E is
    needed. The difference loses digits where the mean is long beside the spread: hence the sums in
    float64. Divided by n − 1, as scikit-learn does.
    """
    width = matrix.shape[1]
    total, products = np.zeros(width), np.zeros((width, width))
    for first, block in blocks(matrix):
        chosen = fitted[first : first + len(block)]
        taken = block if chosen.all() else block[chosen]
        if view is MapView.UNIT:
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
    view: MapView,
) -> np.ndarray:
    coordinates = np.full((len(matrix), len(components)), np.nan, np.float32)
    shift = origin @ components.T
    for first, block in blocks(matrix):
        chosen = placed[first : first + len(block)]
        at = slice(first, first + len(block))
        with np.errstate(invalid="ignore", over="ignore"):
            products = block @ components.T
        if view is MapView.UNIT:
            length = np.where(chosen, rows.norms[at], 1)
            products /= length[:, None]
        coordinates[at][chosen] = products[chosen] - shift
    return coordinates


def projected(loaded: LoadedModel, named: NamedRows, view: MapView) -> Projection:
    """All rows of E in one view.

    Raises:
        VectorRefusal: fewer than two rows can be placed.
    """
    fitted = fitted_rows(named.rows, view)
    if int(fitted.sum()) < 2:
        raise VectorRefusal.nothing_to_map(loaded.title, len(fitted), int((~fitted).sum()))
    return project(loaded.embedding, named.rows, view)


def coordinate_table(
    named: NamedRows, projection: Projection, chosen: np.ndarray | None = None
) -> pd.DataFrame:
    """Coordinates with names.

    Columns: id, text, kind, norm, pc1 … pc10. A coordinate is missing where the row cannot be
    placed, and in all rows where E has fewer components.

    Args:
        named: the rows of E.
        projection: the view.
        chosen: ids of the rows wanted, None for all.
    """
    ids = np.arange(len(named.tokens)) if chosen is None else np.asarray(chosen)
    table = named.tokens.iloc[ids].assign(norm=named.rows.norms[ids]).reset_index(drop=True)
    have = projection.coordinates.shape[1]
    for component in range(COMPONENTS):
        missing = np.full(len(ids), np.nan, np.float32)
        values = projection.coordinates[ids, component] if component < have else missing
        table[f"pc{component + 1}"] = values
    return table


def fixed_signs(components: np.ndarray) -> np.ndarray:
    """(K,) of 1.0 and −1.0, to multiply the rows of `components`, (K, d), with: no picture mirrors.

    An eigenvector and its negative are equally good, and which one comes out depends on the
    library, its release and the order of the rows. The rule looks at the component alone: the sum
    of the cubes of its entries is positive. Where that sum is a thousandth or less of what it could
    be (a component that is symmetrical), its first large entry is positive.
    """
    return np.array([_sign(component.astype(np.float64)) for component in components])


def _sign(component: np.ndarray) -> float:
    skew = float((component**3).sum())
    if abs(skew) > _SYMMETRICAL * float((np.abs(component) ** 3).sum()):
        return float(np.sign(skew))
    size = np.abs(component)
    first = int(np.argmax(size >= _LARGE * size.max()))
    return -1.0 if component[first] < 0 else 1.0


@dataclass(frozen=True)
class Box:
    """The view, and what it leaves out.

    Attributes:
        low: (2,) least coordinates.
        high: (2,) largest.
        outside: rows that lie outside, the farthest first.
        excess: how far outside each lies, in sides of the box.
    """

    low: np.ndarray
    high: np.ndarray
    outside: np.ndarray
    excess: np.ndarray


def view_box(points: np.ndarray, drawn: np.ndarray) -> Box:
    """Percentiles 0.1 to 99.9 of the drawn points on each axis, and a little more.

    One long row would otherwise press all others into a dot.

    Args:
        points: (V, 2).
        drawn: (V,) which of them are drawn.
    """
    ids = np.flatnonzero(drawn)
    shown = points[ids].astype(np.float64)
    least, most = shown.min(axis=0), shown.max(axis=0)
    low, high = least, most
    if len(ids) >= _FEW:
        inner_low = np.percentile(shown, _LOW, axis=0, method="higher")
        inner_high = np.percentile(shown, _HIGH, axis=0, method="lower")
        reach = _REACH * (inner_high - inner_low)
        low = np.maximum(least, inner_low - reach)
        high = np.minimum(most, inner_high + reach)
    side = np.where(high > low, high - low, 1.0)
    excess = np.maximum(low - shown, shown - high).max(axis=1) / side.max()
    beyond = np.flatnonzero(((shown < low) | (shown > high)).any(axis=1))
    order = beyond[np.argsort(-excess[beyond], kind="stable")]
    margin = 0.04 * side
    return Box(low - margin, high + margin, ids[order], excess[order])
