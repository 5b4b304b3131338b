"""The fourth witness: logits recomputed from h_L and the matrix that scores."""

from __future__ import annotations

import math

from tiedviz.compute.formula import formula_text
from tiedviz.compute.unembedding import unembedding_of
from tiedviz.files.verdict.witnesses import Measured
from tiedviz.models.loaded import LoadedModel


def hear_measured(loaded: LoadedModel) -> Measured:
    """What recomputing this model's logits on a fixed probe gave. Measured once for each model."""
    found = unembedding_of(loaded)
    return Measured(
        formula=None if found.after is None else formula_text(found.after, tied=loaded.tied),
        max_abs_error=_finite(found.max_abs_error),
        tolerance=_finite(found.tolerance),
        reproduced=found.scores,
        reason="" if found.scores else found.reason,
        dtype=loaded.dtype,
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
