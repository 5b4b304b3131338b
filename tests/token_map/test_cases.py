"""Troubles people really have with maps of a vocabulary; each number is that of its case."""

import subprocess
import sys
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from tests.conftest import ROOT
from tiedviz.charts.token_map import on_white, raster, raster_chart
from tiedviz.compute.token_map import MapView, Measure, map_rows, neighbours_of, project
from tiedviz.compute.token_map.projection import view_box
from tiedviz.compute.token_map.recall import neighbour_recall, true_neighbours

V = 262_144


def table(rows, width, seed=0):
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(seed))


@pytest.mark.case(5)
def test_case_5_a_row_ten_times_as_long_is_first_by_dot_and_by_cosine_each_row_is_its_own():
    matrix = table(300, 16)
    matrix[8] *= 10
    ranks = [neighbours_of(matrix, map_rows(matrix), row).self_rank for row in range(300)]
    assert all(rank[Measure.COSINE] == 1 for rank in ranks)
    assert sum(rank[Measure.DOT] > 1 for rank in ranks) > 100


@pytest.mark.case(14)
@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "norms", "longest", "parts", "with_norm", "with_id"),
    [
        ("smollm2", (1.79, 7.49), "Ġstrugg", (0.109, 0.027), 0.87, 0.53),
        ("gemma", (1.028, 1.035), None, (0.067, 0.041), 0.06, None),
    ],
)
def test_case_14_as_measured_on_real_tables(
    request, name, norms, longest, parts, with_norm, with_id
):
    """PC1 of SmolLM2 is its rows' length more than anything; Gemma has no outliers at all."""
    loaded = request.getfixturevalue(name)
    matrix = loaded.embedding
    lengths = matrix.float().norm(dim=1).numpy()
    assert (lengths.min(), lengths.max()) == pytest.approx(norms, abs=0.006)
    if longest:
        assert loaded.tokenizer.convert_ids_to_tokens(int(lengths.argmax())) == longest
    found = project(matrix, map_rows(matrix), MapView.CENTRED)
    assert found.spectrum[:2] == pytest.approx(parts, abs=0.0006)
    first = found.coordinates[:, 0]
    assert abs(np.corrcoef(first, lengths)[0, 1]) == pytest.approx(with_norm, abs=0.006)
    if with_id:
        ids = np.arange(len(first))
        assert abs(np.corrcoef(first, ids)[0, 1]) == pytest.approx(with_id, abs=0.006)


@pytest.mark.case(14)
def test_case_14_one_row_200_times_as_long_owns_the_variance_and_is_listed_outside_the_view():
    matrix = table(2000, 64)
    matrix[77] *= 200
    found = project(matrix, map_rows(matrix), MapView.CENTRED)
    assert found.spectrum[0] > 0.6
    box = view_box(found.coordinates[:, :2], np.ones(2000, bool))
    assert box.outside[0] == 77
    side = box.high[0] - box.low[0]
    assert side < np.ptp(found.coordinates[:, 0]) / 50  # of percentiles, not of the farthest row
    unit = project(matrix, map_rows(matrix), MapView.UNIT)
    assert unit.spectrum[0] < 0.1  # the view the page begins with


@pytest.mark.case(15)
def test_case_15_a_quarter_of_a_million_rows_are_all_in_the_picture_and_in_its_export():
    points = table(V, 2).numpy()
    box = view_box(points, np.ones(V, bool))
    png = raster(points, np.zeros(V, int), np.ones(V, bool), box.low, box.high)
    named = pd.DataFrame({"id": [V - 1], "text": ["last"], "x": [0.0], "y": [0.0]})
    chart = raster_chart(png, box.low, box.high, ("PC1", "PC2"), named)
    spec = chart.to_json()  # altair's MaxRowsError comes at 5,001 rows
    assert len(spec) < 2_000_000
    assert Image.open(BytesIO(on_white(png, f"{V:,} tokens"))).size[0] > 500


@pytest.mark.case(68)
def test_case_68_of_four_thousand_rows_the_picture_keeps_a_share_that_is_counted():
    matrix = table(4000, 32)
    rows = map_rows(matrix)
    true = true_neighbours(matrix, rows, rows.usable, direction=False)
    flat = project(matrix, rows, MapView.CENTRED).coordinates[:, :2]
    kept = neighbour_recall(flat, rows.usable, true)
    assert kept.anchors == 2000 and kept.nearest == 10
    assert 0 < kept.low <= kept.share <= kept.high < 0.2  # two of 32 directions
    all_of_it = neighbour_recall(matrix.numpy(), rows.usable, true)
    assert all_of_it.share == pytest.approx(1.0)


@pytest.mark.case(69, 70)
def test_case_69_and_case_70_a_quarter_of_a_million_rows_need_no_square():
    """Axes, neighbours by all three measures, and the share that is kept: V × V is 256 GB."""
    script = f"""
import torch
from benchmarks.peak import peak_above
from tiedviz.compute.token_map import Measure, MapView, map_rows, neighbours_of, project
from tiedviz.compute.token_map.recall import neighbour_recall, true_neighbours

def everything(matrix):
    rows = map_rows(matrix)
    points = project(matrix, rows, MapView.UNIT).coordinates[:, :2]
    for by in Measure:
        assert len(neighbours_of(matrix, rows, len(matrix) - 1, by=by).ids) == 10
    true = true_neighbours(matrix, rows, rows.usable, direction=True)
    assert true.among == len(matrix)
    neighbour_recall(points, rows.usable, true)

matrix = torch.randn({V}, 8)
everything(matrix[:3000])
print(peak_above(lambda: everything(matrix)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    # 2,000 anchors against all V at once would be 2.1 GB
    assert int(done.stdout) < 300_000_000
