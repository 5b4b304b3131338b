"""What is said when an open model cannot do what a page wants of it."""

from __future__ import annotations

import math

from tiedviz.words.numbers import scientific
from tiedviz.words.refusals import Refusal


class NotReproduced(Refusal):
    """The logits cannot be recomputed from h and the matrix."""

    def __init__(self, title: str, reason: str, max_abs_error: float) -> None:
        seen = "" if math.isnan(max_abs_error) else f"; max |Δ| = {scientific(max_abs_error)}"
        super().__init__(
            f"The logits of {title} were not reproduced",
            f"{reason}{seen}",
            "No page shows numbers that it cannot prove; the verdict and the counts still work.",
        )


class NoLens(Refusal):
    """The way from a layer to the logits was not reproduced."""

    def __init__(self, title: str, reason: str) -> None:
        super().__init__(
            f"No layer of {title} below the last can be read",
            reason,
            "The last layer, the model's own answer, can.",
        )


class HeadMissing(Refusal):
    """The files hold no output matrix, so the one in memory is random."""

    def __init__(self, title: str, names: tuple[str, ...]) -> None:
        super().__init__(
            f"{title} has no output matrix of its own",
            f"its files do not hold {', '.join(names[:3])}, so the library filled in random "
            "numbers and every answer would be noise",
            "If the model was tied, set tie_word_embeddings to true in its config.json; else go "
            "back to a save that still holds the head.",
        )
