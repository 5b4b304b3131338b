"""What is said when an uploaded toy cannot be read."""

from __future__ import annotations

from tiedviz.words.numbers import count, megabytes
from tiedviz.words.refusals import Refusal
from tiedviz.words.tokens import shorten, visible

_AGAIN = "Take the JSON that this page exports, and change its numbers."


class ToyRefusal(Refusal):
    """A file that holds no toy of four words."""

    @classmethod
    def too_large(cls, size: int, limit: int) -> ToyRefusal:
        """A file far larger than a toy."""
        why = f"a toy of four words takes at most {megabytes(limit)}"
        return cls(f"The toy's file is {megabytes(size)}", why, _AGAIN)

    @classmethod
    def no_toy(cls, said: str) -> ToyRefusal:
        """JSON, or something else, without the tables of a toy."""
        return cls("The file holds no toy", said, _AGAIN)

    @classmethod
    def another_shape(cls, table: str, rows: int, columns: int) -> ToyRefusal:
        """A table with other rows or columns than the toy's."""
        wanted = f"{count(rows)} lists of {columns}" if rows else f"a list of {columns}"
        why = f"the toy's {table} is {wanted} numbers"
        return cls(f"{table} in the file has another shape", why, _AGAIN)

    @classmethod
    def other_words(cls, found: list[str], words: list[str]) -> ToyRefusal:
        """A file about other words; the steps speak of the toy's own."""
        named = ", ".join(shorten(visible(word.encode("utf-8", "replace")), 20) for word in found)
        why = f"it has {named or 'none'}, and the ten steps speak of {', '.join(words)}"
        return cls("The file is about other words", why, _AGAIN)

    @classmethod
    def number_unusable(cls, table: str, place: str, largest: float) -> ToyRefusal:
        """A number that is not finite, or so large that softmax leaves nothing to see."""
        why = f"the one at {place} is not between −{largest:g} and {largest:g}"
        return cls(f"{table} in the file has a number that cannot be used", why, _AGAIN)
