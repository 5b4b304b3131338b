"""Axes and coordinates, against scikit-learn and on matrices that break things."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.conftest import ROOT
from tiedviz.compute.token_map import MapView, map_rows, project
from tiedviz.compute.token_map.projection import fixed_signs, view_box


def table(rows=400, width=12, seed=0):
    """Rows with a mean, with different lengths, and with more variance in some directions."""
    random = np.random.default_rng(seed)
    spread = np.linspace(3, 0.3, width) * random.standard_normal((rows, width))
    return torch.from_numpy((spread + random.standard_normal(width)).astype(np.float32))


def by_scikit_learn(array):
    from sklearn.decomposition import PCA

    found = PCA(n_components=min(10, *array.shape), svd_solver="full")
    return found.fit_transform(array.astype(np.float64)), found


@pytest.mark.parametrize("view", ["centred", "unit", "raw"])
@pytest.mark.parametrize("shape", [(400, 12), (400, 3), (5, 8), (300, 2), (8, 20)])
def test_coordinates_and_variance_are_those_of_scikit_learn(view, shape):
    matrix = table(*shape)
    array = matrix.numpy()
    if view == "unit":
        array = array / np.linalg.norm(array, axis=1, keepdims=True)
    theirs, pca = by_scikit_learn(array)
    if view == "raw":  # the same axes, measured from zero
        theirs = theirs + pca.mean_ @ pca.components_.T
    mine = project(matrix, map_rows(matrix), MapView(view))
    rank = min(shape[0] - 1, shape[1], 10)  # components without variance may point anywhere
    signs = np.sign((mine.components * pca.components_).sum(axis=1))
    assert mine.coordinates[:, :rank] == pytest.approx((theirs * signs)[:, :rank], abs=1e-3)
    assert mine.spectrum[:rank] == pytest.approx(pca.explained_variance_ratio_[:rank], abs=1e-5)
    assert mine.spectrum.sum() == pytest.approx(1)
    assert len(mine.spectrum) == min(shape)


@pytest.mark.parametrize("view", list(MapView))
def test_the_picture_never_mirrors(view):
    matrix = table()
    here = project(matrix, map_rows(matrix), view)
    order = torch.randperm(len(matrix), generator=torch.Generator().manual_seed(1))
    there = project(matrix[order], map_rows(matrix[order]), view)
    assert there.coordinates == pytest.approx(here.coordinates[order.numpy()], abs=1e-3)


def test_a_sign_belongs_to_the_component_and_not_to_the_library():
    components = np.random.default_rng(0).standard_normal((200, 40))
    assert fixed_signs(-components) == pytest.approx(-fixed_signs(components))
    symmetrical = np.array([[1.0, -1.0, 0, 0], [0, 0.1, -2.0, 2.0]])
    assert fixed_signs(symmetrical * 0.5).tolist() == [1.0, -1.0]
    assert fixed_signs(-symmetrical).tolist() == [-1.0, 1.0]


def test_rows_that_are_not_finite_are_named_and_the_others_do_not_move():
    matrix = table()
    broken = matrix.clone()
    broken[[3, 200]] = torch.tensor([[float("nan")], [float("inf")]])
    rows = map_rows(broken)
    assert np.flatnonzero(~rows.finite).tolist() == [3, 200]
    for view in MapView:
        mine = project(broken, rows, view)
        assert np.isnan(mine.coordinates[[3, 200]]).all()
        assert np.isfinite(mine.coordinates[rows.finite]).all()
        rest = matrix[rows.finite]
        alone = project(rest, map_rows(rest), view)
        assert mine.coordinates[rows.finite] == pytest.approx(alone.coordinates, abs=1e-3)


def test_rows_without_a_token_are_placed_but_move_no_axis():
    matrix = table()
    matrix[350:] = 50.0
    with_token = np.arange(400) < 350
    mine = project(matrix, map_rows(matrix, with_token), MapView.CENTRED)
    alone = project(matrix[:350], map_rows(matrix[:350]), MapView.CENTRED)
    assert mine.coordinates[:350] == pytest.approx(alone.coordinates, abs=1e-4)
    assert np.isfinite(mine.coordinates[350:]).all()


def test_equal_rows_share_a_place_and_zero_rows_have_no_direction():
    matrix = table()
    matrix[10:24] = matrix[10]
    matrix[30:33] = 0
    matrix[40] = -matrix[40].abs() - 1
    rows = map_rows(matrix)
    assert np.flatnonzero(rows.zero).tolist() == [30, 31, 32]
    unit = project(matrix, rows, MapView.UNIT).coordinates
    assert np.isnan(unit[30:33]).all() and np.isfinite(unit[40]).all()
    raw = project(matrix, rows, MapView.RAW).coordinates
    assert raw[30:33] == pytest.approx(np.zeros((3, 10)), abs=1e-5)
    assert raw[10:24] == pytest.approx(np.tile(raw[10], (14, 1)), abs=1e-5)


def test_rows_that_are_all_equal_have_no_variance():
    matrix = torch.ones(30, 4)
    mine = project(matrix, map_rows(matrix), MapView.CENTRED)
    assert mine.spectrum.tolist() == [0, 0, 0, 0]
    assert mine.coordinates == pytest.approx(np.zeros((30, 4)), abs=1e-5)


@pytest.mark.case(14)
def test_one_long_row_is_outside_the_view():  # case 14
    matrix = table()
    matrix[77] *= 200
    mine = project(matrix, map_rows(matrix), MapView.CENTRED)
    box = view_box(mine.coordinates[:, :2], np.ones(400, bool))
    assert box.outside[0] == 77 and box.excess[0] > 10
    assert box.high[0] - box.low[0] < np.ptp(mine.coordinates[:, 0]) / 10
    inside = (mine.coordinates[:, :2] >= box.low) & (mine.coordinates[:, :2] <= box.high)
    assert inside.all(axis=1).mean() > 0.98
    few = view_box(mine.coordinates[:5, :2], np.ones(5, bool))
    assert len(few.outside) == 0


def test_any_vector_can_be_placed():
    matrix = table()
    for view in MapView:
        mine = project(matrix, map_rows(matrix), view)
        assert mine.place(matrix.numpy()) == pytest.approx(mine.coordinates, abs=1e-3)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_dtypes_are_read_as_they_are(dtype):
    matrix = table().to(dtype)
    mine = project(matrix, map_rows(matrix), MapView.CENTRED)
    same = matrix.float()
    theirs = project(same, map_rows(same), MapView.CENTRED)
    assert mine.coordinates == pytest.approx(theirs.coordinates, abs=2e-3)


@pytest.mark.case(70)
def test_memory_stays_far_below_a_second_copy_of_the_matrix():  # case 70
    script = """
import torch
from benchmarks.peak import peak_above
from tiedviz.compute.token_map import MapView, map_rows, project
torch.manual_seed(0)
matrix = torch.randn(60_000, 256)
matrix[5] = float("nan")
for view in MapView:  # libraries come in with their first use
    project(matrix[6:900], map_rows(matrix[6:900]), view)
for view in MapView:
    for part in (matrix, matrix[6:]):
        print(peak_above(lambda: project(part, map_rows(part), view)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    peaks = [int(line) for line in done.stdout.split()]
    assert len(peaks) == 6
    assert max(peaks) < 60_000 * 256 * 4 * 0.5
