"""h·Eᵀ and the ten largest for one h, against the product alone."""

from collections.abc import Iterator

import torch

from benchmarks.timing import Row, ratio_row
from tiedviz.compute.unembedding.product import plain_product


def rows() -> Iterator[Row]:
    """At Gemma 3 270M's shape, on random numbers."""
    torch.manual_seed(0)
    matrix, h = torch.randn(262_144, 640), torch.randn(640)
    with torch.inference_mode():
        yield ratio_row(
            "h·E^T and top-10 for one h, over torch.mv",
            lambda: plain_product(h, matrix).topk(10),
            lambda: torch.mv(matrix, h),
            1.3,
        )
