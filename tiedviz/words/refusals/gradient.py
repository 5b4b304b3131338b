"""What is said when the gradient of a sentence cannot be computed or cannot be proved."""

from __future__ import annotations

from tiedviz.words.numbers import count, megabytes, plural
from tiedviz.words.refusals import Refusal


class GradientRefusal(Refusal):
    """No gradient of this sentence, or none that splits into two sides."""

    @classmethod
    def nothing_to_predict(cls, token: str) -> GradientRefusal:
        """One token and no other: nothing comes after it that it could be asked for."""
        return cls(
            "There is nothing to predict",
            f"the text is one token, “{token}”, and the loss asks each token for the one after it",
            "Type at least one more word.",
        )

    @classmethod
    def too_long(cls, tokens: int, limit: int) -> GradientRefusal:
        """More tokens than gradients are computed for here."""
        return cls(
            f"The text is {plural(tokens, 'token')} long",
            f"gradients are computed for at most {count(limit)}, since every position keeps one "
            "number for each token of the vocabulary until the way back",
            f"Shorten it by {plural(tokens - limit, 'token')} or more.",
        )

    @classmethod
    def too_large(cls, title: str, needed: int, free: int) -> GradientRefusal:
        """Two dense gradients and what the passes keep would not fit."""
        return cls(
            f"The gradient of {title} does not fit in memory",
            f"it needs about {megabytes(needed)} and {megabytes(free)} are free",
            "Shorten the text, close another model, or choose a smaller one.",
        )

    @classmethod
    def not_all_in_memory(cls, title: str, names: list[str]) -> GradientRefusal:
        """Some weights are on disk, so that no gradient can flow through them."""
        return cls(
            f"There is no gradient through {title} here",
            f"{plural(len(names), 'parameter')} of it stay on disk between calls, the first is "
            f"{names[0]}",
            "Open it on a machine with more free memory, or choose a smaller model.",
        )

    @classmethod
    def not_differentiable(cls, title: str, name: str, dtype: str) -> GradientRefusal:
        """Weights that are no plain floating-point numbers."""
        return cls(
            f"There is no gradient through {title}",
            f"{name} is held as {dtype}: quantised numbers have no derivative",
            "Open a copy with float32, bfloat16 or float16 weights.",
        )

    @classmethod
    def sides_not_separate(cls, title: str, reason: str) -> GradientRefusal:
        """The matrix is used in another way than by lookup and as the output matrix."""
        return cls(
            f"The gradient of {title} cannot be split into two sides",
            reason,
            "Next token and Is it tied? may still work for this model.",
        )
