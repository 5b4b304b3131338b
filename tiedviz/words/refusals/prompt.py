"""What is said when a prompt, a position or a token cannot be used with the open model."""

from __future__ import annotations

from tiedviz.words.numbers import count, plural
from tiedviz.words.refusals import Refusal


class EmptyPrompt(Refusal):
    """The text gives no token at all."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "The prompt is empty",
            f"{name} adds no token of its own, so there is no position to read an answer from",
            "Type something, or switch BOS to “add”.",
        )


class PromptTooLong(Refusal):
    """More tokens than the model has positions for, or than this app will run."""

    def __init__(self, tokens: int, limit: int, reason: str) -> None:
        super().__init__(
            f"The prompt is {plural(tokens, 'token')} long",
            f"{reason} {count(limit)}",
            f"Shorten it by {plural(tokens - limit, 'token')} or more.",
        )


class NoAnswerBegun(Refusal):
    """An encoder–decoder model, nothing for its decoder to read, and no mark to begin with."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Nothing says how an answer of {name} begins",
            "its config names no decoder_start_token_id and no bos_token_id",
            "Type the beginning of the answer as well.",
        )


class NoSuchRow(Refusal):
    """A token id beyond the rows of the matrix."""

    def __init__(self, token: int, rows: int) -> None:
        super().__init__(
            f"There is no row {count(token)}",
            f"the matrix has rows 0 to {count(rows - 1)}",
            "Choose an id in that range.",
        )


def require_row(row: int, rows: int) -> None:
    """Nothing, or a refusal where a matrix of `rows` rows has no such one.

    Raises:
        NoSuchRow: with both numbers.
    """
    if not 0 <= row < rows:
        raise NoSuchRow(row, rows)


class NoSuchPosition(Refusal):
    """A position beyond the prompt."""

    def __init__(self, position: int, tokens: int) -> None:
        super().__init__(
            f"There is no position {position}",
            f"the prompt has {plural(tokens, 'token')}, positions 0 to {tokens - 1} "
            f"(or −1 for the last, down to −{tokens})",
            "Choose a position in that range.",
        )


class NotAToken(Refusal):
    """A text that is not exactly one token."""

    def __init__(self, text: str, pieces: int) -> None:
        super().__init__(
            f"“{text}” is not one token",
            f"this tokenizer cuts it into {pieces}" if pieces else "this tokenizer drops it",
            "A leading space counts. Name a row by number as id:123.",
        )


class NotTwoToFour(Refusal):
    """One model has nothing to be compared with, and five have no room."""

    def __init__(self, given: int) -> None:
        super().__init__(
            f"{plural(given, 'model')} cannot be compared",
            "two to four are compared at a time",
            "Name two, three or four models.",
        )
