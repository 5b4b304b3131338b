"""What is said when an uploaded toy cannot be read."""

from __future__ import annotations

from tiedviz.words.numbers import count, megabytes
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import shorten, visible

_AGAIN = "Take the JSON that this page exports, and change its numbers."


class ToyTooLarge(Refusal):
    """A file far larger than a toy."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"The toy's file is {megabytes(size)}",
            f"a toy of four words takes at most {megabytes(limit)}",
            _AGAIN,
        )


class NotAToy(Refusal):
    """JSON, or something else, without the tables of a toy."""

    def __init__(self, said: str) -> None:
        super().__init__("The file holds no toy", said, _AGAIN)


class ToyOfAnotherShape(Refusal):
    """A table with other rows or columns than the toy's."""

    def __init__(self, table: str, rows: int, columns: int) -> None:
        wanted = f"{count(rows)} lists of {columns}" if rows else f"a list of {columns}"
        super().__init__(
            f"{table} in the file has another shape",
            f"the toy's {table} is {wanted} numbers",
            _AGAIN,
        )


class ToyOfOtherWords(Refusal):
    """A file about other words; the steps speak of the toy's own."""

    def __init__(self, found: list[str], words: list[str]) -> None:
        named = ", ".join(shorten(visible(word.encode("utf-8", "replace")), 20) for word in found)
        super().__init__(
            "The file is about other words",
            f"it has {named or 'none'}, and the ten steps speak of {', '.join(words)}",
            _AGAIN,
        )


class ToyNumberUnusable(Refusal):
    """Not finite, or so large that softmax leaves nothing to see."""

    def __init__(self, table: str, place: str, largest: float) -> None:
        super().__init__(
            f"{table} in the file has a number that cannot be used",
            f"the one at {place} is not between −{largest:g} and {largest:g}",
            _AGAIN,
        )
