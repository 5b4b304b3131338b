"""The limit for rounding: above what rounding does, below what a mistake does."""

from __future__ import annotations

import pytest
import torch

from tiedviz.compute.unembedding.product import tolerance


@pytest.mark.parametrize("width", [16, 64, 576, 2048])
def test_two_ways_to_add_the_same_products_stay_within_it(width):
    numbers = torch.Generator().manual_seed(width)
    matrix = torch.randn(3000, width, generator=numbers)
    states = torch.randn(12, width, generator=numbers)
    exact = states.double() @ matrix.double().T
    for other in (states @ matrix.T, torch.stack([matrix @ state for state in states])):
        limit = tolerance(
            width=width,
            h_norm=float(states.norm(dim=1).max()),
            row_norm=float(matrix.norm(dim=1).max()),
            largest_logit=float(exact.abs().max()),
            dtype=torch.float32,
        )
        assert float((other - exact).abs().max()) < limit
        assert limit < 1e-5 * float(exact.abs().max())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_product_in_half_precision_stays_within_its_own(dtype):
    numbers = torch.Generator().manual_seed(0)
    matrix = (torch.randn(2000, 256, generator=numbers) * 0.1).to(dtype)
    states = torch.randn(12, 256, generator=numbers).to(dtype)
    exact = states.double() @ matrix.double().T
    own = (states @ matrix.T).double()
    limit = tolerance(
        width=256,
        h_norm=float(states.double().norm(dim=1).max()),
        row_norm=float(matrix.double().norm(dim=1).max()),
        largest_logit=float(exact.abs().max()),
        dtype=dtype,
    )
    assert float((own - exact).abs().max()) < limit


def limit(**changes):
    facts = {"width": 64, "h_norm": 10.0, "row_norm": 2.0, "largest_logit": 20.0}
    return tolerance(**facts | {"dtype": torch.float32} | changes)


@pytest.mark.parametrize(
    "larger", [{"width": 256}, {"h_norm": 100.0}, {"row_norm": 20.0}, {"largest_logit": 200.0}]
)
def test_it_grows_with_what_is_added_up(larger):
    assert limit(**larger) > limit()


def test_it_is_wider_in_fewer_bits():
    assert limit() < limit(dtype=torch.float16) < limit(dtype=torch.bfloat16)


def test_even_tiny_logits_have_some():
    assert limit(h_norm=0.0, largest_logit=0.0) > 0
