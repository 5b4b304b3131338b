"""What is said when an open model cannot be used as it is asked: this prompt, or this model."""

from __future__ import annotations

import math

from tiedviz.words.numbers import count, plural, scientific
from tiedviz.words.refusals import Refusal


class PromptRefusal(Refusal):
    """A prompt, a position or a token cannot be used with the open model."""

    @classmethod
    def empty(cls, name: str) -> PromptRefusal:
        """The text gives no token at all."""
        return cls(
            "The prompt is empty",
            f"{name} adds no token of its own, so there is no position to read an answer from",
            "Type something, or switch BOS to “add”.",
        )

    @classmethod
    def no_answer_begun(cls, name: str) -> PromptRefusal:
        """An encoder–decoder model, nothing for its decoder to read, and no mark to begin with."""
        return cls(
            f"Nothing says how an answer of {name} begins",
            "its config names no decoder_start_token_id and no bos_token_id",
            "Type the beginning of the answer as well.",
        )

    @classmethod
    def no_such_row(cls, token: int, rows: int) -> PromptRefusal:
        """A token id beyond the rows of the matrix."""
        return cls(
            f"There is no row {count(token)}",
            f"the matrix has rows 0 to {count(rows - 1)}",
            "Choose an id in that range.",
        )

    @classmethod
    def no_such_position(cls, position: int, tokens: int) -> PromptRefusal:
        """A position beyond the prompt."""
        return cls(
            f"There is no position {position}",
            f"the prompt has {plural(tokens, 'token')}, positions 0 to {tokens - 1} "
            f"(or −1 for the last, down to −{tokens})",
            "Choose a position in that range.",
        )

    @classmethod
    def not_two_to_four(cls, given: int) -> PromptRefusal:
        """One model has nothing to be compared with, and five have no room."""
        return cls(
            f"{plural(given, 'model')} cannot be compared",
            "two to four are compared at a time",
            "Name two, three or four models.",
        )


class PromptTooLong(PromptRefusal):
    """More tokens than the model has positions for, or than this app will run."""

    def __init__(self, tokens: int, limit: int, reason: str) -> None:
        super().__init__(
            f"The prompt is {plural(tokens, 'token')} long",
            f"{reason} {count(limit)}",
            f"Shorten it by {plural(tokens - limit, 'token')} or more.",
        )


def require_row(row: int, rows: int) -> None:
    """Nothing, or a refusal where a matrix of `rows` rows has no such one.

    Raises:
        PromptRefusal: with both numbers.
    """
    if not 0 <= row < rows:
        raise PromptRefusal.no_such_row(row, rows)


class NotAToken(PromptRefusal):
    """A text that is not exactly one token."""

    def __init__(self, text: str, pieces: int) -> None:
        super().__init__(
            f"“{text}” is not one token",
            f"this tokenizer cuts it into {pieces}" if pieces else "this tokenizer drops it",
            "A leading space counts. Name a row by number as id:123.",
        )


class ModelRefusal(Refusal):
    """An open model cannot do what a page wants of it."""

    @classmethod
    def not_reproduced(cls, title: str, reason: str, max_abs_error: float) -> ModelRefusal:
        """The logits cannot be recomputed from h and the matrix."""
        seen = "" if math.isnan(max_abs_error) else f"; max |Δ| = {scientific(max_abs_error)}"
        return cls(
            f"The logits of {title} were not reproduced",
            f"{reason}{seen}",
            "No page shows numbers that it cannot prove; the verdict and the counts still work.",
        )

    @classmethod
    def no_lens(cls, title: str, reason: str) -> ModelRefusal:
        """The way from a layer to the logits was not reproduced."""
        return cls(
            f"No layer of {title} below the last can be read",
            reason,
            "The last layer, the model's own answer, can.",
        )
