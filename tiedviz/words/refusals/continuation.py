"""What is said when a prompt cannot be continued, or two answers cannot be compared."""

from __future__ import annotations

from tiedviz.words.refusals import Refusal


class ContinuationRefusal(Refusal):
    """A prompt cannot be continued, or not be compared."""

    @classmethod
    def fills_gaps(cls, title: str) -> ContinuationRefusal:
        """A model that fills gaps has no next token."""
        return cls(
            f"{title} does not continue a text",
            "it fills gaps and sees both sides of each, so it has no next token",
            "Choose a causal or an encoder-decoder model to continue.",
        )

    @classmethod
    def out_of_range(cls, what: str, given: float, allowed: str) -> ContinuationRefusal:
        """A temperature, top-p or length that no draw can be made with."""
        return cls(
            f"{what} cannot be {given:g}",
            f"it must be {allowed}",
            "Choose another number.",
        )

    @classmethod
    def another_question(cls, title: str, why: str, has_mask: bool = True) -> ContinuationRefusal:
        """A causal and a masked model are asked different things by this prompt."""
        return cls(
            f"{title} cannot be compared here",
            why,
            "End the prompt with [MASK]: masked models are read there, the others where it begins."
            if has_mask
            else "Compare the others without it.",
        )
