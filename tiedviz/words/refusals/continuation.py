"""What is said when a prompt cannot be continued, or two answers cannot be compared."""

from __future__ import annotations

from tiedviz.words.refusals import Refusal


class NoContinuation(Refusal):
    """A model that fills gaps has no next token."""

    def __init__(self, title: str) -> None:
        super().__init__(
            f"{title} does not continue a text",
            "it fills gaps and sees both sides of each, so it has no next token",
            "Choose a causal or an encoder-decoder model to continue.",
        )


class NoSuchWay(Refusal):
    """A temperature, top-p or length that no draw can be made with."""

    def __init__(self, what: str, given: float, allowed: str) -> None:
        super().__init__(
            f"{what} cannot be {given:g}",
            f"it must be {allowed}",
            "Choose another number.",
        )


class NotTheSameQuestion(Refusal):
    """A causal and a masked model are asked different things by this prompt."""

    def __init__(self, title: str, why: str, has_mask: bool = True) -> None:
        super().__init__(
            f"{title} cannot be compared here",
            why,
            "End the prompt with [MASK]: masked models are read there, the others where it begins."
            if has_mask
            else "Compare the others without it.",
        )
