"""One logit as arithmetic: its products one by one, and everything the model does to their sum."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pandas as pd
import torch

from tiedviz.compute.next_token.state import ScoredState
from tiedviz.compute.unembedding import AfterHead
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import require_row


@dataclass(frozen=True)
class LogitArithmetic:
    """z_j, taken apart. Sums are in float64; the last line is the model's own number.

    Attributes:
        id: j.
        terms: the largest products, one row each: dimension, h, e, product; largest first.
        others: how many products are left.
        rest: their sum.
        dot: h·e_j, all of them.
        h_norm, row_norm, cosine: the same as ‖h‖ · ‖e_j‖ · cos.
        scale, bias, cap: what the model does to it; 1, 0 and None where it does nothing.
        total: the logit computed from these.
        model_logit: the logit the model gave.
    """

    id: int
    terms: pd.DataFrame
    others: int
    rest: float
    dot: float
    h_norm: float
    row_norm: float
    cosine: float
    scale: float
    bias: float
    cap: float | None
    total: float
    model_logit: float

    def steps(self) -> pd.DataFrame:
        """The way from 0 to the logit, one row a step, as `charts.next_token` draws it.

        Columns: step, detail, value, start, end, kind ("adds", "takes away", "the rest",
        "the logit").
        """
        rows = product_steps(self.terms, "e", self.others, self.rest)
        after_scale = self.scale * self.dot
        if self.scale != 1.0:
            rows.append((f"× {self.scale:.6g}", "scale", after_scale - self.dot))
        if self.bias:
            rows.append(("+ bias", "one number for each token", self.bias))
        if self.cap is not None:
            rows.append((f"softcap {self.cap:g}", "tanh", self.total - after_scale - self.bias))
        return waterfall_steps(rows, rest=len(self.terms), total=("logit", self.total))


def product_steps(
    terms: pd.DataFrame, factor: str, others: int, rest: float
) -> list[tuple[str, str, float]]:
    """The first steps of a waterfall: the products of `taken_apart`, and the rest as one."""
    named = zip(terms["dimension"], terms["h"], terms[factor], terms["product"], strict=True)
    steps = [(f"dimension {at}", f"{h:.3f} × {e:.3f}", product) for at, h, e, product in named]
    return [*steps, (f"{others} others", f"{others} smaller products", rest)]


def taken_apart(h: torch.Tensor, row: torch.Tensor, factor: str, largest: int) -> dict[str, Any]:
    """The sum h·row by its products: terms (a frame), others, rest and dot.

    Columns of terms: dimension, h, `factor`, product; the largest first.

    Args:
        h: (d,) float64.
        row: (d,) float64.
        factor: what the column of the row's numbers is called.
        largest: how many products are written out.
    """
    products = h * row
    order = products.abs().argsort(descending=True)[:largest]
    dot = float(products.sum())
    terms = {"dimension": order, "h": h[order], factor: row[order], "product": products[order]}
    return {
        "terms": pd.DataFrame({name: values.tolist() for name, values in terms.items()}),
        "others": len(products) - len(order),
        "rest": dot - float(products[order].sum()),
        "dot": dot,
    }


def waterfall_steps(
    rows: list[tuple[str, str, float]], *, rest: int, total: tuple[str, float]
) -> pd.DataFrame:
    """Steps (name, detail, value) with where each begins and ends, and the total as the last row.

    Columns as in `LogitArithmetic.steps`.

    Args:
        rows: the steps.
        rest: which of them is the sum of what is not drawn.
        total: what the last row is called, and its value.
    """
    steps, details, values = zip(*rows, strict=True)
    ends = list(accumulate(values))
    kinds = ["adds" if value >= 0 else "takes away" for value in values]
    kinds[rest] = "the rest"
    name, value = total
    return pd.DataFrame(
        {
            "step": [*steps, name],
            "detail": [*details, "the total"],
            "value": [*values, value],
            "end": [*ends, value],
            "start": [*(end - value for end, value in zip(ends, values, strict=True)), 0.0],
            "kind": [*kinds, "the logit"],
        }
    )


def logit_arithmetic(
    loaded: LoadedModel, reading: ScoredState, after: AfterHead, token: int, *, largest: int = 12
) -> LogitArithmetic:
    """The logit of row `token`, with its `largest` products written out.

    Raises:
        NoSuchRow: the matrix has fewer rows.
    """
    require_row(token, len(reading.logits))
    h = reading.h.double()
    e = loaded.scoring_matrix[token].detach().cpu().double()
    apart = taken_apart(h, e, "e", largest)
    dot = apart["dot"]
    norms = float(h.norm()), float(e.norm())
    total = after(torch.tensor([dot], dtype=torch.float64), torch.tensor([token]))
    return LogitArithmetic(
        id=token,
        **apart,
        h_norm=norms[0],
        row_norm=norms[1],
        cosine=dot / (norms[0] * norms[1]) if all(norms) else 0.0,
        scale=after.scale.value,
        bias=0.0 if after.bias is None else float(after.bias[token]),
        cap=None if after.cap is None else after.cap.value,
        total=float(total[0]),
        model_logit=float(reading.logits[token]),
    )
