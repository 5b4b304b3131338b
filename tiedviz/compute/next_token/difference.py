"""Why one token scores above another: h·(e_a − e_b), and what the model does to it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch

from tiedviz.compute.next_token.arithmetic import product_steps, taken_apart, waterfall_steps
from tiedviz.compute.next_token.state import ScoredState
from tiedviz.compute.unembedding import AfterHead
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import require_row


@dataclass(frozen=True)
class LogitDifference:
    """z_a − z_b, taken apart. Sums are in float64; the last line is the reading's own numbers.

    Attributes:
        a, b: the two rows.
        terms: the largest products, one row each: dimension, h, difference (e_a − e_b), product.
        others: how many products are left.
        rest: their sum.
        dot: h·(e_a − e_b), all of them.
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
    terms: pd.DataFrame
    others: int
    rest: float
    dot: float
    scaled: float
    bias: float
    capped: float
    cap: float | None
    total: float
    own: float

    def steps(self) -> pd.DataFrame:
        """The way from 0 to the difference, one row a step, as `charts.next_token` draws it."""
        rows = product_steps(self.terms, "difference", self.others, self.rest)
        if self.scaled != self.dot:
            rows.append(("scale", "the model's factor", self.scaled - self.dot))
        if self.bias:
            rows.append(("bias", "bias of the one minus bias of the other", self.bias))
        if self.cap is not None:
            rows.append((f"softcap {self.cap:g}", "tanh of each logit by itself", self.capped))
        return waterfall_steps(rows, rest=len(self.terms), total=("difference", self.total))


def logit_difference(
    loaded: LoadedModel,
    reading: ScoredState,
    after: AfterHead,
    a: int,
    b: int,
    *,
    largest: int = 12,
) -> LogitDifference:
    """The logit of row `a` minus that of row `b`, with the `largest` products written out.

    Raises:
        NoSuchRow: the matrix has fewer rows.
    """
    for token in (a, b):
        require_row(token, len(reading.logits))
    h = reading.h.double()
    e_a, e_b = loaded.scoring_matrix[[a, b]].detach().cpu().double()
    apart = taken_apart(h, e_a - e_b, "difference", largest)
    z_a, z_b = after(torch.stack([h @ e_a, h @ e_b]), torch.tensor([a, b])).tolist()
    scaled = apart["dot"] * after.scale.value
    bias = 0.0 if after.bias is None else float(after.bias[a]) - float(after.bias[b])
    return LogitDifference(
        a=a,
        b=b,
        **apart,
        scaled=scaled,
        bias=bias,
        capped=0.0 if after.cap is None else z_a - z_b - scaled - bias,
        cap=None if after.cap is None else after.cap.value,
        total=z_a - z_b,
        own=float(reading.logits[a].double() - reading.logits[b].double()),
    )
