"""What is said about the picture: how much it keeps, how far all rows point the same way."""

import numpy as np
import pytest
import torch

from tiedviz.compute.token_map import MapView, map_rows, project
from tiedviz.compute.token_map.recall import neighbour_recall, true_neighbours
from tiedviz.compute.token_map.rows import row_statistics


def measured(matrix, points, direction=False):
    rows = map_rows(matrix)
    true = true_neighbours(matrix, rows, rows.usable, direction=direction)
    return neighbour_recall(points, rows.usable, true), true


def test_a_flat_cloud_keeps_all_its_neighbours():
    matrix = torch.randn(3000, 2, generator=torch.Generator().manual_seed(0))
    kept, _ = measured(matrix, matrix.numpy())
    assert kept.share > 0.99 and kept.anchors == 2000 and kept.nearest == 10
    assert kept.low <= kept.share <= kept.high
    again, _ = measured(matrix, matrix.numpy())
    assert again == kept  # a fixed seed


def test_a_round_cloud_keeps_about_what_is_counted_by_hand():
    matrix = torch.randn(500, 40, generator=torch.Generator().manual_seed(0))
    points = matrix[:, :2].numpy()
    kept, true = measured(matrix, points)
    full = torch.cdist(matrix, matrix).fill_diagonal_(torch.inf).topk(10, largest=False).indices
    flat = torch.from_numpy(points)
    flat = torch.cdist(flat, flat).fill_diagonal_(torch.inf).topk(10, largest=False).indices
    by_hand = np.mean(
        [len(set(a) & set(b)) / 10 for a, b in zip(full.tolist(), flat.tolist(), strict=True)]
    )
    assert kept.share == pytest.approx(by_hand, abs=1e-9)
    assert kept.low == kept.high == kept.share  # every row is an anchor: nothing was sampled
    assert [set(row) for row in true.nearest.tolist()] == [set(row) for row in full.tolist()]


def test_by_direction_lengths_do_not_count():
    matrix = torch.randn(400, 6, generator=torch.Generator().manual_seed(0))
    longer = matrix * torch.linspace(1, 50, 400)[:, None]
    _, one = measured(matrix, matrix[:, :2].numpy(), direction=True)
    _, other = measured(longer, matrix[:, :2].numpy(), direction=True)
    assert [set(row) for row in one.nearest] == [set(row) for row in other.nearest]


def test_five_rows_have_four_neighbours():
    matrix = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    kept, _ = measured(matrix, matrix[:, :2].numpy())
    assert kept.share == 1.0 and kept.nearest == 4


def test_the_interval_covers_the_share_of_all_rows():
    matrix = torch.randn(9000, 8, generator=torch.Generator().manual_seed(3))
    rows = map_rows(matrix)
    points = project(matrix, rows, MapView.CENTRED).coordinates[:, :2]
    true = true_neighbours(matrix, rows, rows.usable, direction=False)
    kept = neighbour_recall(points, rows.usable, true)
    assert 0.01 < kept.high - kept.low < 0.05 or kept.share < 0.2
    assert len(np.unique(true.anchors)) == 2000


def test_the_mean_cosine_before_and_after_centring():
    matrix = torch.randn(400, 16, generator=torch.Generator().manual_seed(0)) + 1.0
    spread = row_statistics(matrix, map_rows(matrix))
    unit = matrix / matrix.norm(dim=1, keepdim=True)
    pairs = (unit @ unit.T).double()
    expected = float((pairs.sum() - pairs.trace()) / (400 * 399))
    assert spread.cosine == pytest.approx(expected, abs=1e-6) and expected > 0.4
    assert abs(spread.centred_cosine) < 0.01
    assert spread.median_norm == pytest.approx(float(matrix.norm(dim=1).median()), abs=0.05)
    assert spread.mean_length == pytest.approx(float(matrix.mean(0).norm()), abs=1e-4)


def test_a_table_of_nothing_usable_has_no_numbers():
    matrix = torch.full((4, 3), torch.nan)
    found = row_statistics(matrix, map_rows(matrix))
    assert np.isnan([found.cosine, found.mean_norm, found.least_norm, found.largest_norm]).all()
