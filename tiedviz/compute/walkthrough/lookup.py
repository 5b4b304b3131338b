"""Reading a row and multiplying by one-hot: the same numbers, timed, and where a gradient goes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn import functional

from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import require_row


@dataclass(frozen=True)
class LookupTimed:
    """Both ways to get row x.

    Attributes:
        row: x.
        lookup_seconds, product_seconds: medians; the product's vector of zeros is made beforehand.
        repeats: of how many.
        max_abs_difference: between the two results.
        products: multiplications in one_hot·E, V·d.
        wasted: how many of them are with 0, (V − 1)·d.
        rows_with_gradient: rows of E that a gradient through the lookup touches.
    """

    row: int
    lookup_seconds: float
    product_seconds: float
    repeats: int
    max_abs_difference: float
    products: int
    wasted: int
    rows_with_gradient: tuple[int, ...]


def time_lookup(loaded: LoadedModel, row: int, *, repeats: int = 5) -> LookupTimed:
    """Time both on the model's own E.

    Raises:
        PromptRefusal: E has fewer rows.
    """
    E = loaded.embedding.detach()
    rows, width = E.shape
    require_row(row, rows)
    hot = torch.zeros(rows, dtype=E.dtype, device=E.device)
    hot[row] = 1.0
    with torch.inference_mode():
        lookup, read = _median(lambda: E[row].clone(), repeats)
        product, made = _median(lambda: hot @ E, repeats)
    return LookupTimed(
        row=row,
        lookup_seconds=lookup,
        product_seconds=product,
        repeats=repeats,
        max_abs_difference=float((read.float() - made.float()).abs().max()),
        products=rows * width,
        wasted=(rows - 1) * width,
        rows_with_gradient=_rows_with_gradient(E, row),
    )


def _median(work: Callable[[], torch.Tensor], repeats: int) -> tuple[float, torch.Tensor]:
    """Median seconds after one call for warming up, and what came out."""
    result = work()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), result


def _rows_with_gradient(E: torch.Tensor, row: int) -> tuple[int, ...]:
    """Where autograd sends the gradient of a sum over the row that was read.

    Sparse, so that a gradient as large as E is never made; it shares E's memory.
    """
    with torch.enable_grad():
        table = E.detach().requires_grad_()
        functional.embedding(
            torch.tensor([row], device=E.device), table, sparse=True
        ).sum().backward()
    gradient = table.grad
    assert gradient is not None
    return tuple(sorted(set(gradient.coalesce().indices()[0].tolist())))
