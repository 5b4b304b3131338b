"""What is said when the gradient of a sentence cannot be computed or cannot be proved."""

from __future__ import annotations

from tiedviz.words.numbers import count, megabytes, plural
from tiedviz.words.refusals import Refusal


class NothingToPredict(Refusal):
    """One token and no other: nothing comes after it that it could be asked for."""

    def __init__(self, token: str) -> None:
        super().__init__(
            "There is nothing to predict",
            f"the text is one token, “{token}”, and the loss asks each token for the one after it",
            "Type at least one more word.",
        )


class SentenceTooLong(Refusal):
    """More tokens than gradients are computed for here."""

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(
            f"The text is {plural(tokens, 'token')} long",
            f"gradients are computed for at most {count(limit)}, since every position keeps one "
            "number for each token of the vocabulary until the way back",
            f"Shorten it by {plural(tokens - limit, 'token')} or more.",
        )


class GradientTooLarge(Refusal):
    """Two dense gradients and what the passes keep would not fit."""

    def __init__(self, title: str, needed: int, free: int) -> None:
        super().__init__(
            f"The gradient of {title} does not fit in memory",
            f"it needs about {megabytes(needed)} and {megabytes(free)} are free",
            "Shorten the text, close another model, or choose a smaller one.",
        )


class NotAllInMemory(Refusal):
    """Some weights are on disk, so that no gradient can flow through them."""

    def __init__(self, title: str, names: list[str]) -> None:
        super().__init__(
            f"There is no gradient through {title} here",
            f"{plural(len(names), 'parameter')} of it stay on disk between calls, the first is "
            f"{names[0]}",
            "Open it on a machine with more free memory, or choose a smaller model.",
        )


class NotDifferentiable(Refusal):
    """Weights that are no plain floating-point numbers."""

    def __init__(self, title: str, name: str, dtype: str) -> None:
        super().__init__(
            f"There is no gradient through {title}",
            f"{name} is held as {dtype}: quantised numbers have no derivative",
            "Open a copy with float32, bfloat16 or float16 weights.",
        )


class SidesNotSeparate(Refusal):
    """The matrix is used in another way than by lookup and as the output matrix."""

    def __init__(self, title: str, reason: str) -> None:
        super().__init__(
            f"The gradient of {title} cannot be split into two sides",
            reason,
            "Next token and Is it tied? may still work for this model.",
        )
