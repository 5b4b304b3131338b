"""The token map: axes of all rows, neighbours of one, what the picture keeps, bytes sent."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from sklearn.decomposition import PCA

from benchmarks.peak import peak_above
from benchmarks.timing import Row, ratio_row, seconds
from tiedviz.compute.token_map import MapView, map_rows, neighbours_of, project
from tiedviz.compute.token_map.recall import neighbour_recall, true_neighbours
from tiedviz.compute.token_map.rows import NamedRows
from tiedviz.ui.token_map.picture import names_payload, points_payload
from tiedviz.words.token_kinds import TokenKind

_SHAPES = ((49_152, 576), (262_144, 640))


def rows() -> Iterator[Row]:
    """At the shapes of SmolLM2 135M and Gemma 3 270M, on random numbers with a mean."""
    for shape in _SHAPES:
        torch.manual_seed(0)
        matrix = torch.randn(*shape) * torch.linspace(2, 0.2, shape[1]) + 0.3
        yield from _projections(matrix)
    with torch.inference_mode():
        known = map_rows(matrix)
        yield ratio_row(
            "neighbours of a token, three measures and own ranks, over torch.mv",
            lambda: neighbours_of(matrix, known, 4000),
            lambda: torch.mv(matrix, matrix[4000]),
            1.3,
        )
    points = project(matrix, known, MapView.UNIT).coordinates[:, :2]

    def kept() -> None:
        true = true_neighbours(matrix, known, known.usable, direction=True)
        neighbour_recall(points, known.usable, true)

    [(wall, _)] = seconds(kept, runs=1)
    yield Row(
        "neighbours kept, 2,000 anchors against 262,144", f"{wall:.1f} s", "<= 10 s", wall <= 10
    )
    yield _bytes_row(matrix, points)


def _projections(matrix: torch.Tensor) -> Iterator[Row]:
    known, shape = map_rows(matrix), " × ".join(f"{side:,}" for side in matrix.shape)
    table = matrix.numpy()

    def library() -> None:
        PCA(10, svd_solver="covariance_eigh").fit_transform(table)

    for view, bound in ((MapView.CENTRED, 1.2), (MapView.UNIT, 2.0)):
        yield ratio_row(
            f"PCA of {shape}, {view.value}, over scikit-learn's own",
            lambda view=view: project(matrix, known, view),
            library,
            bound,
        )
        more = peak_above(lambda view=view: project(matrix, known, view))
        yield Row(
            f"PCA of {shape}, {view.value}, extra memory",
            f"{more / 1e6:.0f} MB",
            "<= 300 MB",
            more <= 0.3e9,
        )


def _bytes_row(matrix: torch.Tensor, points: np.ndarray) -> Row:
    """Texts as long as Gemma's are on average: nine bytes."""
    count = len(matrix)
    kinds = pd.Categorical.from_codes([0] * count, categories=[kind.value for kind in TokenKind])
    tokens = pd.DataFrame(
        {"id": range(count), "text": [f"␣{row:06d}" for row in range(count)], "kind": kinds}
    )
    names = names_payload("any", NamedRows(tokens, map_rows(matrix)))
    size = len(names) + len(points_payload("any", points))
    return Row(
        "bytes of the whole map, 262,144 tokens", f"{size / 1e6:.1f} MB", "<= 12 MB", size <= 12e6
    )
