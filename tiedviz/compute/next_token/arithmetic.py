"""Logits as arithmetic: their products one by one, and all that the model does to the sum.

`logit_arithmetic` takes one logit apart, `logit_difference` the difference of two: h·(e_a − e_b).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import pandas as pd
import torch

from tiedviz.compute.next_token.state import ScoredState
from tiedviz.compute.unembedding import AfterHead
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import require_row


@dataclass(frozen=True)
class DotProduct:
    """h·row by its products, in float64.

    Attributes:
        terms: the largest products, one row each, the largest first. Columns: dimension, h, the
            number of the row, product.
        others: how many products are left.
        rest: their sum.
        dot: all of them.
    """

    terms: pd.DataFrame
    others: int
    rest: float
    dot: float

    def waterfall(
        self, further: list[tuple[str, str, float]], name: str, total: float
    ) -> pd.DataFrame:
        """The way from 0 to `total`, one row a step, as `charts.next_token` draws it.

        Columns: step, detail, value, start, end, kind ("adds", "takes away", "the rest",
        "the logit").

        Args:
            further: steps (name, detail, value) after the products.
            name: what the total is called.
            total: its value.
        """
        products = [
            (f"dimension {at}", f"{h:.3f} × {e:.3f}", product)
            for at, h, e, product in self.terms.itertuples(index=False)
        ]
        others = (f"{self.others} others", f"{self.others} smaller products", self.rest)
        steps, details, values = zip(*products, others, *further, strict=True)
        ends = list(accumulate(values))
        kinds = ["adds" if value >= 0 else "takes away" for value in values]
        kinds[len(products)] = "the rest"
        return pd.DataFrame(
            {
                "step": [*steps, name],
                "detail": [*details, "the total"],
                "value": [*values, total],
                "end": [*ends, total],
                "start": [*(end - value for end, value in zip(ends, values, strict=True)), 0.0],
                "kind": [*kinds, "the logit"],
            }
        )


def dot_product(h: torch.Tensor, row: torch.Tensor, of: str, largest: int) -> DotProduct:
    """The sum h·row with its `largest` products written out.

    Args:
        h: (d,) float64.
        row: (d,) float64.
        of: what the column of the row's numbers is called.
        largest: how many products are written out.
    """
    products = h * row
    order = products.abs().argsort(descending=True)[:largest]
    dot = float(products.sum())
    terms = {"dimension": order, "h": h[order], of: row[order], "product": products[order]}
    return DotProduct(
        terms=pd.DataFrame({name: values.tolist() for name, values in terms.items()}),
        others=len(products) - len(order),
        rest=dot - float(products[order].sum()),
        dot=dot,
    )


@dataclass(frozen=True)
class LogitArithmetic(DotProduct):
    """z_j = h·e_j and what follows, taken apart; the last line is the model's own number.

    Attributes:
        id: j.
        h_norm, row_norm, cosine: the product as ‖h‖ · ‖e_j‖ · cos.
        scale, bias, cap: what the model does to it; 1, 0 and None where it does nothing.
        total: the logit computed from these.
        model_logit: the logit the model gave.
    """

    id: int
    h_norm: float
    row_norm: float
    cosine: float
    scale: float
    bias: float
    cap: float | None
    total: float
    model_logit: float

    def steps(self) -> pd.DataFrame:
        """The way from 0 to the logit, as a `waterfall`."""
        further = []
        after_scale = self.scale * self.dot
        if self.scale != 1.0:
            further.append((f"× {self.scale:.6g}", "scale", after_scale - self.dot))
        if self.bias:
            further.append(("+ bias", "one number for each token", self.bias))
        if self.cap is not None:
            further.append((f"softcap {self.cap:g}", "tanh", self.total - after_scale - self.bias))
        return self.waterfall(further, "logit", self.total)


def logit_arithmetic(
    loaded: LoadedModel, state: ScoredState, after: AfterHead, token: int, *, largest: int = 12
) -> LogitArithmetic:
    """The logit of row `token`, with its `largest` products written out.

    Raises:
        PromptRefusal: the matrix has fewer rows.
    """
    require_row(token, len(state.logits))
    h = state.h.double()
    e = loaded.scoring_matrix[token].detach().cpu().double()
    product = dot_product(h, e, "e", largest)
    norms = float(h.norm()), float(e.norm())
    total = after(torch.tensor([product.dot], dtype=torch.float64), torch.tensor([token]))
    return LogitArithmetic(
        id=token,
        **vars(product),
        h_norm=norms[0],
        row_norm=norms[1],
        cosine=product.dot / (norms[0] * norms[1]) if all(norms) else 0.0,
        scale=after.scale.value,
        bias=0.0 if after.bias is None else float(after.bias[token]),
        cap=None if after.cap is None else after.cap.value,
        total=float(total[0]),
        model_logit=float(state.logits[token]),
    )


@dataclass(frozen=True)
class LogitDifference(DotProduct):
    """z_a − z_b = h·(e_a − e_b) and what follows, taken apart; last come the state's own numbers.

    Attributes:
        a, b: the two rows.
        scaled: dot times what the model multiplies every product by.
        bias: bias_a − bias_b.
        capped: what a softcap adds to scaled + bias; 0.0 where there is none. A softcap is no
            linear map, so that this depends on both logits and not on their difference alone.
        cap: the softcap, or None.
        total: z_a − z_b computed from these.
        own: z_a − z_b of the logits as they were read.
    """

    a: int
    b: int
    scaled: float
    bias: float
    capped: float
    cap: float | None
    total: float
    own: float

    def steps(self) -> pd.DataFrame:
        """The way from 0 to the difference, as a `waterfall`."""
        further = []
        if self.scaled != self.dot:
            further.append(("scale", "the model's factor", self.scaled - self.dot))
        if self.bias:
            further.append(("bias", "bias of the one minus bias of the other", self.bias))
        if self.cap is not None:
            further.append((f"softcap {self.cap:g}", "tanh of each logit by itself", self.capped))
        return self.waterfall(further, "difference", self.total)


def logit_difference(
    loaded: LoadedModel, state: ScoredState, after: AfterHead, a: int, b: int, *, largest: int = 12
) -> LogitDifference:
    """The logit of row `a` minus that of row `b`, with the `largest` products written out.

    Raises:
        PromptRefusal: the matrix has fewer rows.
    """
    for token in (a, b):
        require_row(token, len(state.logits))
    h = state.h.double()
    e_a, e_b = loaded.scoring_matrix[[a, b]].detach().cpu().double()
    product = dot_product(h, e_a - e_b, "difference", largest)
    z_a, z_b = after(torch.stack([h @ e_a, h @ e_b]), torch.tensor([a, b])).tolist()
    scaled = product.dot * after.scale.value
    bias = 0.0 if after.bias is None else float(after.bias[a]) - float(after.bias[b])
    return LogitDifference(
        a=a,
        b=b,
        **vars(product),
        scaled=scaled,
        bias=bias,
        capped=0.0 if after.cap is None else z_a - z_b - scaled - bias,
        cap=None if after.cap is None else after.cap.value,
        total=z_a - z_b,
        own=float(state.logits[a].double() - state.logits[b].double()),
    )
